"""Words of talk that states nothing: greetings, thanks, assent, hesitation, test texts, in some large languages.

A text of these words and of function words alone has nothing in it to remember. Words that a fact may be
about (names of days, numbers, places) are not here.
"""

# ruff: noqa: E501 - word lists

from __future__ import annotations

from collections.abc import Iterable


def _folded(words: Iterable[str]) -> frozenset[str]:
    """Words as they are in a folded text, which has neither final sigma nor sharp s."""
    return frozenset(map(str.casefold, words))


_GREETED = _folded(
    """
    hi hello hey heya hiya yo greetings welcome goodbye bye cheers ciao thanks thank thx thankyou yes yep
    yeah yup nope ok okay sure alright cool wow haha lol oops sorry congrats congratulations please see
    later great awesome amazing wonderful nice lovely glad hope good i'm let let's danke bitte hallo tschüss
    merci bonjour salut hola gracias obrigado grazie спасибо привет
    """.split()
)

SOCIAL_WORDS = _GREETED | _folded(
    """
    cya tnx ty tysm np yw pls plz pardon apologies apologize excuse whoops yea ya nah no okey okie k kk
    right fine perfect fantastic excellent brilliant super sweet neat whoa yay hooray bravo well done lmao
    rofl hahaha hehe heh hmm hm um umm uh uhh er erm ah aha oh ooh ugh meh eh huh omg wtf idk imo imho btw
    fyi asap brb afk ttyl gtg lgtm nvm tbh smh ikr jk tldr etc absolutely definitely exactly indeed totally
    certainly obviously probably maybe perhaps possibly course agree agreed understood understand noted got
    gotcha copy roger ack acknowledged received know knows knew lets saw seen look looks looking sound
    sounds feel feels think thinking thought thoughts guess suppose believe hopes hoping wish happy pleased
    appreciate appreciated grateful worry worries problem problems matter mind idea ideas clue sense point
    fair true correct wrong really very truly quite rather pretty actually basically honestly simply
    literally anyway anyways again back still yet now soon then today moment second sec minute minutes
    moments while time times bit little lot lots much many more most less day night morning afternoon
    evening weekend luck lucky fun forward talk talked talking speak chat message hear heard tell told say
    says said ask asked asking answer question questions help helps helped helping helpful assist need needs
    want wants wanted like likes try tries tried trying go goes going went come comes coming came get gets
    getting give gives gave given take takes took taken make makes made making do does did doing keep keeps
    start started stop wait waiting hold hang check checking thing things stuff something anything nothing
    everything everyone anyone someone somebody nobody way ways kind sort follow following followup update
    updates discuss discussed discussion conversation continue continued next previous last first one ones
    other others another same different too also just even ever never always already whatever whenever
    however since until though although test tests testing tested tester todo fixme tbd tba wip xxx foo bar
    baz qux quux foobar world asdf asd qwe qwerty zxc abc xyz aaa blah bla lorem ipsum dummy placeholder
    sample example untitled none null nil undefined nan na empty blank void default new note notes memo
    memory draft text texts here there where when what who whom whose which why how ready set finished
    finish complete completed working works work worked ok'd fixed resolved closed kudos amen buddy dude bro
    mate guys folks friend dear sir madam team everybody bless tomorrow yesterday meantime far forget
    remember mentioned mention above below interesting interested important useful nevermind anymore enough
    able possible am is are was were be been being have has had having will would shall should can could may
    might must ought im i've ive i'll i'd you're youre you've you'll you'd we're we've we'll we'd they're
    they've he's she's it's that's thats there's what's whats who's how's don't dont doesn't doesnt didn't
    didnt won't wont can't cant isn't isnt aren't wasn't weren't couldn't shouldn't wouldn't haven't hasn't
    hadn't gonna wanna gotta kinda sorta dunno lemme gimme moin servus tschüs dankeschön gern gerne gut gute
    guten toll prima klar genau stimmt ja nein doch vielleicht verstanden alles klingt passt tag morgen
    abend nacht bis bald später mal gleich entschuldigung tut leid weiß weiss keine ahnung testen schön
    prost wird gemacht mach machen erledigt fertig sehen wir hören melde melden grüße gruß viele liebe freue
    freut mich danken bonsoir coucou beaucoup svp plaît plait oui non d'accord accord bien très génial
    parfait voilà alors peut-être être désolé désolée bientôt demain revoir au bonne journée soirée nuit
    essai rien c'est cest ça ca va vais fait faire sais pas compris entendu volontiers avec plaisir problème
    buenos buenas días dias tardes noches muchas favor sí si vale claro bueno buena genial perfecto quizás
    quizá adiós adios luego hasta pronto mañana siento perdón disculpa prueba nada entendido acuerdo listo
    hecho problema sé sabe nos vemos saludos igualmente olá ola oi bom boa dia tarde noite obrigada sim não
    nao tudo bem ótimo otimo legal beleza talvez tchau até ate logo desculpa desculpe teste entendi certo
    valeu feito salve buongiorno buonasera buonanotte mille prego sì bene benissimo perfetto forse
    arrivederci presto scusa scusi prova niente capito d'accordo fatto hoi dag goedemorgen dank bedankt
    graag gedaan oké nee misschien goed leuk tot ziens straks begrepen akkoord klopt natuurlijk doei cześć
    hej witam dzień dobry wieczór dziękuję dzięki proszę tak nie dobrze świetnie może jasne zgoda pa
    przepraszam rozumiem nic zobaczenia jutro hejsan tack så mycket snälla okej bra toppen kanske förlåt vi
    ses imorgon takk tusen vær kiitos paljon moi terve joo kyllä ei ole hyvä selvä nähdään huomenna merhaba
    selam günaydın teşekkürler teşekkür ederim sağol sağ evet hayır tamam peki lütfen belki güzel harika
    görüşürüz iyi günler geceler ahoj dobrý den děkuji díky prosím ano ne dobře možná bună mulțumesc mersi
    da nu bine köszönöm szia igen jó xin chào cảm ơn vâng được rồi dạ terima kasih halo tidak baik selamat
    pagi siang malam salamat oo hindi asante habari sawa ndiyo hapana здравствуйте здравствуй добрый доброе
    день утро вечер ночи большое пожалуйста да нет ладно хорошо окей ок отлично супер понятно понял поняла
    ясно конечно наверное может быть пока увидимся завтра извините извини простите тест проверка ничего
    согласен договорились готово сделано ага угу ну вот так привіт дякую ні добре γεια σου σας καλημέρα
    καλησπέρα καληνύχτα ευχαριστώ πολύ παρακαλώ ναι όχι εντάξει οκ τέλεια ωραία ίσως συγγνώμη αύριο τεστ
    δοκιμή καλά مرحبا أهلا اهلا سلام السلام عليكم صباح مساء الخير النور شكرا شكراً جزيلا عفوا نعم لا حسنا
    تمام طيب ممتاز رائع ربما آسف مع السلامة إلى اللقاء غدا اختبار تجربة فهمت موافق جيد שלום היי תודה רבה
    בבקשה כן לא בסדר טוב מעולה אולי סליחה להתראות מחר בדיקה הבנתי לילה בוקר ערב ممنون مرسی متشکرم لطفا بله
    نه باشه خوب عالی شاید خداحافظ فردا تست नमस्ते नमस्कार धन्यवाद शुक्रिया कृपया हाँ हां नहीं ठीक अच्छा
    बढ़िया शायद माफ़ माफ फिर मिलेंगे कल टेस्ट परीक्षण है जी 안녕 안녕하세요 안녕히 계세요 가세요 감사합니다 감사해요 고마워 고마워요 고맙습니다 네
    예 아니요 아니 응 알겠습니다 알겠어요 알았어 좋아요 좋아 좋습니다 괜찮아요 괜찮아 미안해요 미안 죄송합니다 테스트 나중에 봐요 내일 그래요 그래 맞아요 ㅋㅋ ㅋㅋㅋ ㅎㅎ
    schon wieder soll weiter sagen schönes nochmal geschehen einfach grüssen überlegen puh heute schauen
    wetter echt meinst ähm hoffe gedacht ich's jederzeit ihnen recht hast kannst kürzer einmal zusammen dich
    peux votre quoi euh mes veuillez sûr grave réfléchis attends secondes suivi reprendre n'hésitez revenir
    distinguées madame monsieur salutations allez franchement dis quelques patienter m'en beaux fais déjà
    souhaitez reste disposition voici exactement gentil mdr aider dices tal pregunta eres espero ajá uy
    pillé ahí otro venga mía mismo encuentre descanses ver cual gustaría mmm permítame lamento confusión
    muchísimas você aí deixa sua então sei hum hein calma vamos sentido demais obrigadão mandei mensagem
    gostaria contigo fixe essa peço equívoco pessoal ficou hoje muito continuar ecco proprio avanti così
    attesa domanda butta insomma puoi ripetere fammi attimo pensare figurati stato porgo riscontro suo boh
    resto andiamo oggi vediamola fai domani richiesta scuso lascia wat nou doen laat denken dood snap waar
    slaap uw zeggen excuses allemaal precies zoals verder słychać czekaj niech szacunku razie lecimy dalej
    ojej dziś jesteś czekać wiadomość tym oczywiście serio dobranoc czy wiem trwa prosimy jeszcze pomyłkę
    zapomnij nieważne pomóc давай то повтори обращайтесь уважением выручил надеюсь сейчас спокойной там чём
    хотите знаю загрузка идёт подождите извинения приношу неточность неважно rica düşüneyim hadi şimdi hemen
    misin koptum tamamdır saygılarımla sıradakine geçelim umarım elbette ciddi rahatlık versin hımm bekleyin
    yükleniyor dilerim özür boş nasılsın edelim devam ki خير الحال أفكر يرجى ههههههه آخر كلامك خليني
    والتقدير بقبول الاحترام وتفضلوا فائق نتكلم بعدين بعده اليوم سؤال آها الانتظار مش بالتأكيد معقول تصبح
    بالغلط هل ترغب جار سمحت لو لكم أعتذر خلاص كيف شاء बात आपका समझ हाहाहा आज शुभ आपके प्रतीक्षा देखते सोचने
    भवदीय सवाल आया। ज़रूर सॉरी चाहेंगे हम्म छोड़ो दो। कैसे बढ़ते पता ᄏᄏᄏᄏᄏ 오늘 정말 다시 잠깐만 생각 별말씀을요 물어보세요 기원합니다
    글쎄 아하 덕분에 기다려 잠시만 드리겠습니다 잘못 드릴까요 중입니다 수도 그럴 드려 혼란을 보내세요 신경 됐어 쓰지 계속해 그렇구나 수고하셨습니다 här svara ще зараз щоб
    quá trời nói đó nhầm lòng câu bisa anda banget mohon berikut hormat gitu מה אפשר
    """.split()
)

CARRYING = _folded(
    """
    talk talking talked speak chat message test tests tested question questions problem problems idea ideas
    time times day days night morning afternoon evening weekend note notes text texts sample example memory
    draft empty start started stop stopped fixed resolved closed complete finished work works working going
    coming come came went making made make makes keep follow following take taking conversation discussion
    update updates dream fun exercise look looking looks hear hearing heard want wants like likes love loves
    need needs check changing friend friends team one two different interested important first last next
    previous new answer answers
    """.split()
)
"""Those of them that carry something beside another word of content, where nobody is greeted or thanked."""

GREETINGS = _GREETED | {"you", "your"}

CONTENT_TOO = frozenset({"man"})
"""A function word of one language that is a word of content in another."""

SOCIAL_PHRASES = (
    "你好", "您好", "大家好", "早上好", "早安", "下午好", "晚上好", "晚安", "再见", "拜拜", "谢谢", "多谢", "感谢", "不客气", "不用谢", "对不起",
    "不好意思", "抱歉", "没关系", "没事", "没问题", "没有问题", "好的", "好吧", "好啊", "好呀", "可以的", "可以", "行吧", "行", "是的", "不是", "对的", "对啊", "对",
    "嗯嗯", "嗯", "哦", "噢", "啊", "吧", "呢", "吗", "呀", "哈哈", "哈", "呵呵", "嘿嘿", "收到", "明白", "知道了", "知道", "了解", "懂了", "同意", "赞", "棒",
    "太好了", "太棒了", "很好", "不错", "加油", "辛苦了", "测试", "一下", "待办", "待定", "稍后", "等等", "等一下", "回头", "明天见", "再说", "再聊", "以后", "请问",
    "请", "麻烦", "帮忙", "帮我", "随便", "当然", "也许", "可能", "应该", "真的", "谢謝", "謝謝", "你們", "沒問題", "沒事", "對不起", "知道了", "測試", "收到",
    "ありがとう", "ございます", "ございました", "よろしく", "お願い", "いたします", "します", "しました", "すみません", "ごめんなさい", "ごめん", "こんにちは",
    "こんばんは", "おはよう", "おやすみ", "なさい", "さようなら", "またね", "また", "はい", "いいえ", "うん", "了解", "承知", "わかりました", "分かりました",
    "わかった", "大丈夫", "いいね", "いいです", "なるほど", "そうですね", "そうです", "そう", "お疲れ様", "お疲れさま", "テスト", "です", "ます", "でした", "ました", "ください",
    "確認", "後で", "あとで", "明日", "えっと", "笑", "草", "ね", "よ", "か",
    "สวัสดี", "ขอบคุณ", "ขอบใจ", "ครับ", "ค่ะ", "คะ", "จ้า", "จ้ะ", "นะ", "โอเค", "ตกลง", "ใช่", "ไม่ใช่", "ไม่เป็นไร", "ไม่", "ได้", "เลย", "แล้ว", "ดี", "มาก", "เยี่ยม",
    "ขอโทษ", "ทดสอบ", "ลองดู", "พรุ่งนี้", "เจอกัน", "บาย", "รับทราบ", "เข้าใจ", "ทราบ", "ฮ่า", "555",
    "ຂອບໃຈ", "ສະບາຍດີ", "សួស្តី", "អរគុណ", "မင်္ဂလာပါ", "ကျေးဇူး",
    "刚才", "没听清", "一遍", "随时", "敬礼", "此致", "原来如此", "稍候", "真的假的", "不会吧", "算了", "继续", "当我没说", "死我了", "非常", "怎么",
    "对对对", "过得", "ましょう", "ちょっと", "うーん", "考えさせて", "申し上げ", "お答え", "ウケる", "そういうことか", "どこまで話したっけ", "読み込み中",
    "よろしくお願いいたします", "もう一度", "言ってもらえ", "もちろん", "それな", "もう少し", "考えてみる", "เรื่อยๆ", "เมื่อกี้", "อะไร",
    "กรุณา", "ยังไง", "ไงบ้าง", "แป๊บ", "โปรด", "เหมือนกัน", "รอสักครู่", "จริงดิ", "ส่งผิดห้อง",
    "ต้องการให้", "กำลังโหลด", "ต้องขออภัย", "อีกครั้ง", "ช่างมัน", "ไปต่อ", "ขอคิด", "พูดอีก", "เพิ่มเติม",
    "สบายดี", "เข้าใจแล้ว",
)  # fmt: skip
"""The same in scripts that put no spaces between words; the longer ones are looked for first."""

SUBJECTS = _folded(
    """
    i i'm i've i'll i'd me my mine we our ours us he him his she her hers they them their theirs user client
    customer everyone nobody ich mein meine meiner meinen mir mich wir unser unsere er sie ihr ihre je j'ai
    j'aime j'habite mon ma mes nous notre nos il elle ils elles son sa ses leur yo soy mi mis nosotros
    nuestro nuestra él ella ellos su sus eu sou meu minha meus nós nosso ele ela io sono mio mia noi nostro
    lui lei ik mijn wij onze hij zij ja jestem mój moja nasz on ona jag min mitt vi vår han hon jeg minä
    olen meidän hän ben benim biz bizim o em tôi saya kami dia mimi я мой моя мое моё мои мне меня мы наш
    наша наши он его она её ее они их у нас ему ей εγώ είμαι μου εμείς μας أنا انا عندي لدي نحن لدينا هو هي
    אני שלי אנחנו שלנו הוא היא من ما मैं मेरा मेरी मेरे हम हमारा हमारी वह उसका 저는 제가 나는 내가 우리는 그는 그녀는 사용자는
    no not never without none kein keine keinen nicht nie niemand ohne pas jamais sans ningún nunca sin não
    sem non mai senza geen niet nooit zonder nigdy bez inte aldrig utan ei koskaan yok değil нет не никогда
    без لا ليس بدون לא אין בלי नहीं बिना
    """.split()
)
"""Who a short statement is about (pronouns of the first and third person), and negations: with one word of content they state something."""

LEFT_OUT = frozenset({"has", "had", "have", "got", "is", "was", "owns", "wants", "needs"})
"""Verbs that begin a note about somebody who is not named in it: "Has a dog", "Got married"."""
