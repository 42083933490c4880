"""Words that say little: what function words, placeholders, menus and licences are made of.

They help where a text is too short for statistics.
"""

# ruff: noqa: E501 - sentences and word lists

from __future__ import annotations

FUNCTION_WORDS = frozenset(
    """
    the of and to in a an that it is was for on with as by at from but or not this which be are have had
    has they you we he she his her their its i my your our me him them us if then than so would could
    should can will may do does did there here when what who where how why all any some no up out about
    into over after before been being were also just only more most such very too these those because
    while both each other der die das und zu den von mit sich des auf für ist im dem nicht ein eine
    einen einem einer als auch es werden aus er hat dass sie nach wird bei um am sind noch wie über ich
    wir ihr mich mir war hatte wenn aber oder nur so le la les un une des du de et en que qui dans pour
    pas sur ce il elle ne se plus par avec sont est au aux nous vous je son sa ses mais ou où cette été
    el los las una unos y o en por con para su sus al lo como más pero no es son fue se del que este
    esta muy ya um uma os as e do da dos das em no na nos nas com não para mais foi ao pelo pela il lo
    gli di che è per non una sono della del nel con ma anche si più het een en van ik te dat die niet
    zijn op aan met voor er maar om ook i w na z że się nie do jest to o jak ale po co tak za od są
    przez ve bir bu da de için ile çok ne o gibi daha var olarak en ya och att det som är av för på med
    en ett den inte jag har om dies diese dieser dieses hier man da nichts kann könnte kein keine keinen
    keiner dort unter vor bis seit gibt những và là của có được cho không một các trong này với người để
    khi đã tôi ở cũng sẽ vào chị anh rất yang dan di untuk dengan ini itu dari pada adalah tidak akan
    saya ada ke juga atau hogy és az egy nem van meg csak ha vagy volt mint már még ezt și să cu pe nu
    este sunt mai din la un o că fost je se na že to v s do z jsem jsou ale není také byl ang ng sa mga
    ay at na si hindi ko siya na ya wa kwa ni katika la za kuwa hii yake i el la els les que amb per és
    una va ser ja on ei se että oli mutta kun niin hän ovat myös och og er til av ikke med som и в не на
    я что тот быть с а весь это как она он по но они к у ты из мы за вы так же от для вот кто да если бы
    или только до о его её их все было был была были при во со ли уже чтобы который мне меня есть і та
    що не на у з до як це за він вона від є και να το της του η ο οι τα την από που είναι στο στη στην
    στον θα τον των σε δεν τη με για μια ένα ένας ότι τους ως αυτό ήταν μας αλλά ή αν κι في من على أن
    إلى هذا هذه التي الذي كان كانت لا ما عن مع هو هي أو بين كل لم قد ذلك بعد عند كما لكن حتى ثم إذا و إن
    أنه تم قبل عليه منذ فقط هناك را از به که در و این آن با است برای את של על לא הוא היא זה עם כל אם גם
    או כי है और के की का को में से पर यह वह ने हैं कि एक नहीं था थी भी तो ही कर लिए हो गया जो
    """.split()
)
FUNCTION_CHARACTERS = "的是了在和就都而及与着或一个没有我们你们他们这那因为所以但是如果也不之其把被"

FILLER_WORDS = frozenset(
    """
    blah random whatsoever text texts content contents placeholder filler fill fills filled filling
    padding space spaces section sections paragraph paragraphs sentence sentences word words line lines
    page pages topic topics subject thing things stuff something anything nothing everything many much
    various general generally important note notes noted reason reasons information info soon later
    added add adds adding further following follow follows sample dummy replace replaced goes go going
    insert inserted write written writing blank empty say says said saying exist exists really simply
    basically actually essentially complete long longer enough point points purpose fact way ways
    certain different several few kind sort lot lots aspect aspects idea ideas thought thoughts another
    nor until even continue continues end day said talk discuss discussed discussion mention mentioned
    consider considered coming come comes tbd todo meaning meaningful meaningless mean means actual like
    well see make makes made look looks put place places bit part parts area areas item items need needs
    required provide provides provided detail details overall matter matters case cases understand
    understanding context situation situations involved factors factor great good better best
    best-effort possible today world always often sometimes usually please whatever whichever whole keep
    keeps read reader reading reads seem seems get gets got become helpful nice okay basic common
    overview introduction intro conclusion summary keeping mind variety number multiple numerous
    countless plenty obvious clear clearly course naturally indeed therefore however moreover
    furthermore additionally regarding related concerning purposes elements element structure organized
    organize ensure ensuring importance essential crucial vital key value valuable quality effective
    efficient process approach exploring explore understandings perspective perspectives dive delve
    fast-paced paced landscape leverage necessary relevant specific particular significant appropriate
    available useful interesting real
    """.split()
)
FILLER_STEMS = frozenset(
    """
    platz inhal absat satz dinge thema weite infor folge stell eigen füllt gesag sagen steht hier später
    viele beisp textb textp textes wicht allge thema nicht besti absch länge länger infos bitte folge
    demnä тесто прове нагру смысл служи запол стран текст место запол содер абзац предл слова слово
    разме добав позже допол инфор сказа говор ничег озна означ много многое видно здесь являе прост
    нужен тема важно общем вещей разны обобщ κείμε χώρο χώρος γεμίσ γεμίζ περιε παράγ προσω λέει τίποτ
    περισ πληρο προστ αργότ πράγμ πολλά μπορο πει κανεί υπάρχ εδώ μπει γενικ σημαν نص النص المسا لملء
    المحت محتوى هنا لاحقا إضافة سيتم الفقر بديل تعني شيئا أشياء كثيرة تقال يمكن الموض المزي المعل سوف
    يأتي قريبا مؤقت موجود بشكل عام معلوم مهم texto conte conté párra parág espac relle preen palab palav
    cosas coisa texte conte parag remp rempl unique page rien impor plus vrai espac chose testo conte
    parag riemp spazi cose पाठ सामग् जगह भरने अनुच् जानकार जोड़ा यहाँ बाद शब्द
    """.split()
)
FILLER_PHRASES = (
    "填充", "占位", "内容", "文字", "文本", "段落", "添加", "更多", "信息", "即将", "稍后", "意义", "很多", "事情",
    "话题", "可以说", "空间", "这里", "这是一段", "没有任何", "关于这个", "查看", "以后", "推出", "各种", "一些",
    "テキスト", "スペース", "内容", "ダミー", "段落", "追加", "予定", "情報", "後で", "意味", "いろいろ", "こと",
    "埋める", "ため", "ここに", "詳しい", "近日", "特に", "言えます", "文章", "サンプル", "ください",
)  # fmt: skip

LOREM_WORDS = frozenset(
    """
    lorem ipsum dolor amet consectetur consectetuer adipiscing elit eiusmod tempor incididunt labore
    dolore magna aliqua enim minim veniam quis nostrud exercitation ullamco laboris nisi aliquip ea
    commodo consequat duis aute irure reprehenderit voluptate velit esse cillum eu fugiat nulla pariatur
    excepteur sint occaecat cupidatat proident sunt culpa officia deserunt mollit anim laborum vivamus
    vestibulum ante primis faucibus orci luctus ultrices posuere cubilia curae pellentesque habitant
    morbi tristique senectus netus malesuada fames turpis egestas mauris blandit aliquet eget tincidunt
    nibh pulvinar proin tortor risus porttitor accumsan curabitur arcu erat imperdiet sed sit ut nec vel
    vitae quam donec nunc aenean phasellus suspendisse maecenas praesent integer nullam fusce etiam cras
    lacinia lectus leo libero ligula lobortis massa mattis metus molestie nisl ornare pharetra placerat
    rhoncus sagittis sapien scelerisque sem semper sollicitudin tellus ullamcorper urna varius vehicula
    venenatis viverra volutpat vulputate convallis cursus dapibus diam dictum dignissim dui efficitur
    eleifend elementum facilisis felis fermentum feugiat finibus fringilla gravida hendrerit iaculis
    interdum justo laoreet neque odio quisque rutrum sodales tempus auctor bibendum condimentum congue
    aliquam
    """.split()
)
MENU_WORDS = frozenset(
    """
    home homepage about contact login logout signin signup register privacy cookie cookies sitemap
    imprint faq careers jobs newsletter subscribe menu cart checkout basket wishlist copyright terms
    accessibility startseite kontakt impressum datenschutz agb warenkorb anmelden karriere aktuelles
    accueil contactez panier connexion inscription mentions inicio contacto carrito главная контакты
    вход регистрация корзина вакансии наверх αρχική επικοινωνία σύνδεση εγγραφή الرئيسية
    """.split()
)
MENU_PHRASES = frozenset(
    """
    home|about us|contact us|news|products|services|blog|support|help|search|press|partners|events|gallery|downloads
    |my account|account|shipping & returns|store locator|follow us|back to top|next|previous|prev|share|log in|log out
    |sign in|sign up|get started|pricing|solutions|resources|company|team|our team|read more|learn more|settings
    |profile|categories|tags|archive|archives|links|documentation|docs|shop|store|sale|customers|community|forum
    |forums|portfolio|feedback|legal|security|status|language|top|skip to content|skip to main content|notices|weather
    |main page|current events|random article|recent changes|upload file|donate|log|edit|history|view history|talk
    |community portal|special pages|printable version|cite this page|what links here|all categories|best sellers
    |new arrivals|find a store|gift cards|customer service|order status|media|investors|locations|book now|features
    |über uns|produkte|leistungen|suche|hilfe|presse|nach oben|service|team|datenschutzerklärung
    |о нас|новости|продукты|услуги|поиск|помощь|карта сайта|политика конфиденциальности|каталог|войти
    |σχετικά|νέα|προϊόντα|υπηρεσίες|αναζήτηση|βοήθεια|όροι χρήσης|πολιτική απορρήτου
    |من نحن|اتصل بنا|الأخبار|المنتجات|الخدمات|تسجيل الدخول|بحث|مساعدة|سياسة الخصوصية|الشروط والأحكام|خريطة الموقع
    |首页|关于我们|联系我们|新闻|产品|服务|登录|注册|搜索|帮助|隐私政策|使用条款|网站地图|返回顶部|购物车|关于|更多
    |ホーム|会社概要|お問い合わせ|ニュース|製品|サービス|ログイン|会員登録|検索|ヘルプ|プライバシーポリシー|利用規約
    |サイトマップ|ページトップへ|トップ|होम|संपर्क|हमारे बारे में|หน้าแรก|ติดต่อเรา
    """.replace("\n    ", "").split("|")
)
LICENCE_PHRASES = (
    "hereby granted", "free of charge to any person", "source and binary forms", "apache license", "gnu general public",
    "general public license", "obtain a copy of the license", "compliance with the license", "all rights reserved",
    "without warranty", "without warranties", "warranties or conditions", "as is basis", "provided as is",
    "derivative works shall", "source or object form", "in no event shall", "implied warranties", "implied warranty",
    "redistribution and use", "creative commons", "license agreement", "mozilla public license", "free software foundation",
    "terms and conditions of this", "subject to the following conditions", "following conditions are met",
    "prior written permission", "fitness for a particular", "permitted by applicable law", "required by applicable law",
    "you may not use this file", "copy of this software", "deal in the software", "licensed under the",
)  # fmt: skip
LICENCE_WORDS = frozenset(
    """
    license licensed licenses licence licensor licensee sublicense copyright copyrighted warranty
    warranties liability liable merchantability noninfringement redistribution redistributions
    redistribute derivative damages herein hereby thereof notwithstanding permission permitted
    permissions granted grants perpetual irrevocable royalty disclaimer negligence tort consequential
    incidental contributors contributor contributory holders holder reserved trademarks trademark
    infringement implied express provided distribute distributed distribution modify modification
    modifications reproduce reproduced copies conditions software notice fitness exemplary gpl lgpl
    foundation rights obtaining restriction publish publisher
    """.split()
)
VOWELS = frozenset("aeiouyæøœıαεηιουωаеёиоуыэюяіїєѣў")
KEY_ROWS = (
    "qwertyuiop", "asdfghjkl", "zxcvbnm",
    "йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю",
    "ςερτυθιοπ", "ασδφγηξκλ", "ζχψωβνμ",
    "ضصثقفغعهخحجد", "شسيبلاتنمكط", "ئءؤرلاىةوزظ",
)  # fmt: skip
