"""Language coverage of an embedding model: mean weight of its channel over sentences per language.

    python bench/languages.py [--model NAME] [--sentences FILE]

``say`` is `Embedder.knows`, in [0, 1]: it is a property of the query, so the least and the most of the sentences
stand beside the mean. Statements about everyday matters, eight a language, written for this bench; those of a FILE
instead are JSON lines with `language` and `text`.
"""

# ruff: noqa: E501 - sentences

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from _data import lines
from _report import UnusableError, bench, existing_file, options, report

from slowwave.embedding import knows, load_embedder
from slowwave.settings import EmbeddingSettings

SENTENCES: dict[str, tuple[str, ...]] = {
    "English": (
        "hey! sry, was at the dentist, half my face is numb, they took out number 38",
        "Mechanical keyboard with brown switches at home, silent reds at the office.",
        "The new sofa doesn't fit through the front door, it came in by the balcony.",
        "Priya owns the billing service; nobody else has touched that code since 2021.",
        "Oh dear, no, you misunderstood, my husband's the one who's deaf, I only sign.",
        "A NaN in the learning-rate schedule made the third run diverge at step 41,200.",
        "They chose the cheaper roofer because the slate one couldn't start until autumn.",
        "I put the heirloom tomato seeds in the film canisters on the shed's window sill.",
    ),
    "German": (
        "Unser Hochzeitstag ist der 9. September, 2011 geheiratet in Bamberg.",
        "Heizungsdruck muss bei 1,5 bar stehen, sonst springt die Therme nicht an.",
        "Ich lerne gerade Geige, Unterricht ist freitags um 17 Uhr bei Frau Kessler.",
        "Schreib mir Antworten bitte ohne Aufzählungszeichen, ich lese lieber Fließtext.",
        "Alles klar, passt so. Ach ja, das Passwort fürs Gäste-WLAN klebt unter dem Router.",
        "Der Backup-Job auf dem NAS läuft nachts um halb drei und braucht etwa vierzig Minuten.",
        "Guten Morgen! Kurz vorab: mein Knie wird am 12. operiert, ich falle dann drei Wochen aus.",
        "Haha okay, aber nimm bitte keinen Koriander ins Rezept, der schmeckt für mich nach Seife.",
    ),
    "French": (
        "Salut ! Bon, ça y est, j'ai signé chez Airbus, je commence le 4 mars à Toulouse.",
        "Hello, ça roule ? Moi moyen, le médecin m'a interdit le sel à cause de ma tension.",
        "Oui super, ça me va. Par contre pas avant 9 h 30, je dépose la petite à la crèche.",
        "Mon fils Gabin est allergique aux arachides, stylo d'adrénaline dans son cartable.",
        "Ok parfait, bonne soirée alors ! Et note que les clés du camping-car sont chez Bernard.",
        "Haha trop bien. Par contre ne me propose plus jamais de films d'horreur, je supporte pas.",
        "Ah merci, t'es un amour ! Au fait j'ai déménagé, maintenant c'est 12 rue des Tanneurs à Colmar.",
        "Pas de souci, prends ton temps. Je précise juste que Mamie Odette fêtera ses 90 ans le 21 juin.",
    ),
    "Spanish": (
        "Tope para el coche de segunda mano: 9.000 euros, y que no sea diésel.",
        "No puedo levantar más de cinco kilos hasta que el fisio me dé el alta.",
        "Me mudé de Rosario a Córdoba el año pasado por el trabajo de mi mujer.",
        "Soy celíaca diagnosticada desde los doce años, nada de trigo ni cebada.",
        "Jajaja sí, total. Ah, y acuérdate de que a Marta no le gusta que la llamen Martita.",
        "Uf, vale, gracias igual. Ya hablé con el casero y nos deja tener gato pero no perro.",
        "Hola, ¿cómo va? Yo feliz, me acaban de dar la plaza de profe en el instituto de Lugo.",
        "Perfecto, me quedo con esa opción. Eso sí, el vuelo tiene que salir de Bilbao, no de Madrid.",
    ),
    "Portuguese": (
        "Tá certo, gostei. O único detalhe é que o salão só comporta 80 convidados.",
        "Kkkk verdade. Mas olha, evita me mandar áudio, tô sempre no ônibus sem fone.",
        "Olá, bom dia, desculpe o atraso! Fui ao dentista e vou pôr aparelho em março.",
        "Obrigada, querido! Ah, só pra avisar: mudei de número, agora o meu final é 7731.",
        "Meu tio Valdir perdeu a audição do ouvido esquerdo, falar sempre do lado direito.",
        "Estou juntando dinheiro para um mestrado em Coimbra, meta de 40 mil até dezembro.",
        "Sim, pode ser, fico grato. O meu sócio Rui é que assina os contratos, eu não posso.",
        "Poxa, que pena, mas obrigado mesmo assim. Vou ficar com o voo da TAP dia 17 à noite.",
    ),
    "Italian": (
        "Ho cambiato lavoro: da settembre sono alla Lavazza, ufficio acquisti.",
        "Ciao, scusa il ritardo. Ho venduto la Panda, adesso giro solo in bici e treno.",
        "L'allarme si disinserisce con il telecomando grigio, quello nero è del garage.",
        "Grazie caro! Comunque ti dico già che a Pasqua siamo in Puglia dai miei suoceri.",
        "Ma grazie, troppo gentile! L'orto l'abbiamo preso in affitto dal comune, lotto 31.",
        "Ehi, buongiorno! Stanotte non ho dormito, ho l'apnea e devo usare la maschera CPAP.",
        "Ok capito, proseguiamo pure. Ho deciso che la tesi la scrivo in LaTeX e non in Word.",
        "Ahah sì dai. Comunque mio fratello si chiama Edoardo, non Edgardo, correggi dappertutto.",
    ),
    "Dutch": (
        "Mijn vriendin heet Eline en ze is in verwachting, uitgerekend op 14 juli.",
        "Onze zoon Daan zit op hockey, training maandag en donderdag om half zeven.",
        "Super bedankt! Onze API-tokens verlopen om de negentig dagen, hou daar rekening mee.",
        "Haha lekker dan. Voor de duidelijkheid, ik drink geen koffie, alleen thee zonder melk.",
        "Hoi hoi! Fijne vakantie gehad, en ik heb besloten te stoppen als voorzitter van de VvE.",
        "Oké duidelijk, fijn. De sleutel van het tuinhuisje hangt aan het haakje achter de klimop.",
        "Thanks joh, helemaal goed! Ik heb trouwens een nieuwe achternaam sinds de scheiding: De Wit.",
        "Bedankt voor de moeite. Mijn rug kan niet meer dan een uurtje zitten aan, dus plan pauzes in.",
    ),
    "Polish": (
        "Faktury wystawiam do piątego dnia miesiąca, księgowa jest nieubłagana.",
        "Skrypt migracyjny trzeba puszczać dwa razy, za pierwszym pomija widoki.",
        "No dobrze, to do usłyszenia! Zapas kluczy zostawiłem u dozorcy, pana Mietka.",
        "Haha no tak. Tylko nie dawaj mi przepisów z grzybami, bo po nich mam mdłości.",
        "Ok, brzmi dobrze. Wykresy muszą być czarno-białe, bo drukarnia nie robi koloru.",
        "Dzięki, kochana! A, i pamiętaj, że od czerwca pracuję w Allegro, już nie w banku.",
        "Dobry wieczór, już jestem. Ustaliliśmy z mężem, że na wakacje wydamy najwyżej cztery tysiące.",
        "Tak, zgadza się, dzięki. U nas w firmie repozytorium stoi na GitLabie, GitHub jest zablokowany.",
    ),
    "Russian": (
        "Начальник отдела теперь Ренат Ильдарович, Светлану перевели.",
        "Прод крутится на трёх нодах в Казани, стейджинг один, в Москве.",
        "Кот Барсик: операция на почках в прошлом году, корм только лечебный",
        "Спасибо, дорогая! Кстати, свадьбу перенесли на 16 августа, в Суздале.",
        "Ха-ха, ну да. Только имей в виду, что я вегетарианец и шашлык мне не предлагай.",
        "Ага, супер, так и сделаем. Презентация должна уложиться в семь минут, жюри строгое.",
        "Окей, хорошо, спасибо и на том. Маме ничего не говори про сюрприз, юбилей у неё третьего.",
        "Приветик! Всё нормально, устроилась в районную библиотеку, выходные вторник и воскресенье.",
    ),
    "Turkish": (
        "Kombi basıncı 1,5'in altına düşerse mavi musluktan su basmak gerekiyor.",
        "Ahaha evet ya. Yalnız bana dizi önerirken altyazılı olsun, dublaj sevmiyorum.",
        "Eyvallah hocam. Toplantı linkini Selin'e de at, projeyi ocaktan beri o yönetiyor.",
        "Merhaba, iyiyim şükür. İşten ayrıldım, artık serbest çevirmen olarak çalışıyorum.",
        "Sağ ol canım! Bu arada ablam Almanya'dan 5 Temmuz'da geliyor, iki ay bizde kalacak.",
        "Olur olur, konuşuruz. Arabayı Mehmet abinin otoparkına bıraktım, anahtar torpidoda.",
        "Çok teşekkürler, anladım. Bizim ERP Logo Tiger, SAP yok, ona göre anlatırsan sevinirim.",
        "İyi akşamlar, kusura bakma geciktim. Bel fıtığım var, doktor altı hafta spor yasak dedi.",
    ),
    "Arabic": (
        "قررنا نقل الاستضافة من أمازون إلى سيرفر محلي في الرياض.",
        "تسلم يا غالي! على فكرة غيّرت رقمي، والجديد ينتهي بـ 552.",
        "طيب حلو، نكمل بكرة. أختي سعاد هي المسؤولة عن ترتيبات العرس، مو أنا.",
        "اوكي تمام، اتفقنا. التصميم لازم يكون من اليمين لليسار وبخط القاهرة.",
        "مشكور والله. الأولاد لازم يكونون في البيت قبل الثامنة لأن عندهم مدرسة.",
        "مساء النور، آسف تأخرت عليك. بعت السيارة القديمة واشتريت كامري موديل 2021.",
        "أهلاً وسهلاً، الحمد لله بخير. عملية المرارة تحددت يوم 18 في مستشفى السلام.",
        "ممتاز، شكراً على التوضيح. نحن نستخدم التاريخ الهجري في كل التقارير الرسمية.",
    ),
    "Hindi": (
        "थैंक यू भैया! वैसे मैं अब नोएडा शिफ्ट हो गई हूँ, सेक्टर 62 में।",
        "हमने तय किया कि शादी जयपुर में ही होगी, उदयपुर महँगा पड़ रहा है।",
        "नमस्कार, सब बढ़िया है। कल ही रिज़ल्ट आया, बेटी का NEET निकल गया।",
        "चलो फिर, गुड नाइट। याद रहे, ट्रेन 12952 है और सीट बी-3 में लोअर बर्थ।",
        "हाहा सही कहा। बस पनीर की रेसिपी मत देना, मुझे दूध की चीज़ें पचती नहीं।",
        "जी हाँ, आगे चलिए। मेरा नाम शालिनी है, शैलजा नहीं, सर्टिफिकेट में ठीक कर देना।",
        "ठीक है ठीक है, यही रखते हैं। मीटिंग बुधवार को मत रखना, मेरी फिजियोथेरेपी होती है।",
        "बहुत शुक्रिया समझाने के लिए। हमारे यहाँ डेटाबेस MySQL है और टेबल के नाम सब छोटे अक्षरों में।",
    ),
    "Chinese": (
        "哈哈是的是的。不过以后别给我推荐恐怖片，我胆子小睡不着。",
        "谢谢啦，好用！对了，我下个月起调去深圳分公司，常驻南山。",
        "晚上好，忙完啦。驾照终于考下来了，C1 的，手动自动都能开。",
        "好嘞，辛苦！家里的路由器在电视柜左边，密码是搬家那天的日期。",
        "团队定了，前端用 Vue 3，不再维护 jQuery 那套。",
        "你好呀，我又来了。昨天体检查出轻度脂肪肝，打算晚上不吃主食了。",
        "嗯嗯好的，不着急。高铁票我买的是 5 号早上八点那趟 G1024。",
        "明白了，多谢讲解。我们公司内网不能连外网，依赖包都得走自建的 Nexus。",
    ),
    "Japanese": (
        "うん、それで行こう。ただし発表時間は十二分、質疑が三分だからね。",
        "了解、助かる。スーツケースは物置の一番奥、番号は祖母の誕生日の0704。",
        "ありがとう！ちなみに先月から在宅じゃなくて、週三で横浜オフィスに通ってる。",
        "あはは、確かに。ただ私、パクチーは本当に無理なのでレシピから抜いてください。",
        "こんばんは、戻りました。検査の結果、やっぱり橋本病だそうで薬を飲み始めました。",
        "おはようございます！急ですが、三月いっぱいで退職して実家の梨園を継ぐことにしました。",
        "いえいえ、大丈夫です。娘の名前は「さき」ではなく「さつき」なので直しておいてもらえますか。",
        "丁寧な説明ありがとうございます。うちの環境はJava 8のままなので、varは使えないんです。",
    ),
    "Korean": (
        "응응 괜찮아. 엄마 환갑이 6월 14일이라 그 주말은 광주 내려가야 해.",
        "오케이 굿. 캠핑 장비는 형네 지하 창고에 맡겨 뒀고 열쇠는 나한테 있어.",
        "안녕하세요, 또 왔어요. 병원에서 임신 12주래요, 예정일은 5월 2일이고요.",
        "고마워 진짜! 참, 나 다음 달에 판교로 이직해, 네이버 말고 작은 스타트업.",
        "설명 감사합니다, 이해했어요. 저희는 커밋 메시지를 한국어로 쓰는 게 규칙이에요.",
        "엑셀 파일은 반드시 UTF-8이 아니라 EUC-KR로 저장해야 거래처에서 열려요.",
        "늦어서 죄송해요, 차가 막혔네요. 제 이름은 김혜린인데 자꾸 해린으로 적혀 있어요.",
        "네 좋아요, 그렇게 하죠. 다만 발표 자료는 한글 파일(hwp)로만 제출할 수 있대요.",
    ),
    "Thai": (
        "ขอบใจจ้า น่ารักมาก อ้อ เราเปลี่ยนเบอร์แล้วนะ ลงท้าย 8842",
        "เซิร์ฟเวอร์ตัวจริงอยู่ที่ดาต้าเซ็นเตอร์บางนา สำรองอยู่ชลบุรี",
        "ดีเลยครับ ขอบคุณ อย่าลืมว่าชื่อผมสะกดว่า ณัฐวุฒิ ไม่ใช่ ณัฐวุธ",
        "หวัดดีค่ะ กลับมาแล้ว เมื่อวานหมอบอกว่าเป็นไทรอยด์ ต้องกินยาทุกเช้า",
        "โอเคครับ เอาแบบนี้แหละ แต่ไฟล์วิดีโอห้ามเกินสองนาทีนะ อาจารย์กำหนดมา",
        "ไม่เป็นไรค่ะ ไม่รีบ เที่ยวบินของหนูคือวันที่ 28 ออกจากดอนเมืองหกโมงเช้า",
        "ขอบคุณที่อธิบายครับ เข้าใจขึ้นเยอะ ที่บริษัทผมใช้ SQL Server 2014 ยังอัปเกรดไม่ได้",
        "จ้าๆ เดี๋ยวค่อยว่ากัน พี่สาวเรากำลังจะเปิดร้านขนมที่ลำปางเดือนหน้า ชื่อร้านบ้านใบเตย",
    ),
    "Swedish": (
        "Stugan i Rättvik saknar rinnande vatten från oktober till april.",
        "Sedan i höstas sitter jag i styrelsen för bostadsrättsföreningen.",
        "Haha ja visst. Fast ge mig inga recept med svamp, jag tycker det är vidrigt.",
        "Toppen, då säger vi så. Rapporten får däremot inte vara längre än åtta sidor.",
        "Ingen fara alls! Nyckeln till förrådet lämnade jag hos Lasse på bottenvåningen.",
        "Tack snälla! Förresten har jag flyttat till Umeå, så Stockholmstipsen kan du skippa.",
        "Mm bra, vi fortsätter. Min syster stavar Kristina med K och blir sur om det blir fel.",
        "God kväll, ursäkta att jag dröjde. Jag har fått jobbet på Skatteverket, börjar den 1 februari.",
    ),
    "Ukrainian": (
        "Дякую, золотко! До речі, в мене нова адреса: Тернопіль, вулиця Злуки, 17.",
        "У застосунку має бути українська та кримськотатарська, російської не додаємо.",
        "Нічого страшного, буває. Весілля сестри перенесли на 5 жовтня, гуляємо в Косові.",
        "Ага, добре, йдемо далі. Ключі від гаража висять у коридорі на гачку з дзвіночком.",
        "Ок, супер, так і залишмо. Але текст має бути до 1500 знаків, так просить редакція.",
        "Вітаю, я знову тут. Влаштувалась медсестрою в обласну лікарню, графік доба через три.",
        "Зрозумів, щиро дякую. У нас на проєкті гілки називаємо за номером задачі, типу KV-312.",
        "Добрий вечір, вибач за мовчанку. Мені вирізали апендикс, до кінця тижня лежу в лікарні.",
    ),
    "Vietnamese": (
        "Ngân sách mua laptop tối đa 18 triệu, màn hình phải 14 inch trở xuống.",
        "Haha chuẩn luôn. Mà đừng gợi ý món có mắm tôm nha, mình không ngửi được.",
        "Mã nguồn công ty không được đưa lên dịch vụ bên ngoài, quy định bảo mật.",
        "Không sao, cứ từ từ. Đám cưới em trai mình dời sang 22 tháng Chạp, tổ chức ở Huế.",
        "Ok vậy đi, mình thích bản này. Nhưng logo phải giữ màu xanh lá vì sếp hợp mệnh Mộc.",
        "Buổi tối vui vẻ nha! Mình mới nghỉ dạy, giờ mở tiệm bánh ở Quy Nhơn, đóng cửa thứ hai.",
        "Dạ em hiểu rồi, em cảm ơn ạ. Bên em còn dùng Windows Server 2012 nên không cài được bản mới.",
        "Chào bạn, mình quay lại rồi đây. Hôm qua bác sĩ bảo mình bị trào ngược dạ dày, kiêng đồ chua.",
    ),
    "Indonesian": (
        "Aplikasi harus tetap jalan di Android 7, banyak pelanggan pakai HP lama.",
        "Ya, cocok, lanjut aja. Motor kutitipkan di bengkel Mas Joko sampai hari Rabu.",
        "Oke sip, setuju. Cuma slide-nya maksimal lima belas halaman, ketentuan panitia.",
        "Makasih, Kak! Oh iya, aku sekarang udah resign dan buka usaha katering di Depok.",
        "Halo, balik lagi nih. Kata dokter aku anemia, jadi harus minum zat besi tiap pagi.",
        "Wkwk bener juga. Tapi jangan kasih resep yang ada petainya ya, aku nggak tahan baunya.",
        "Terima kasih penjelasannya. Di kantor kami nama kolom tabel pakai bahasa Indonesia semua.",
        "Malam, maaf baru balas. Adikku Wulan melahirkan tadi pagi, bayinya laki-laki, dinamai Arka.",
    ),
    "Hebrew": (
        "חחח נכון. רק בלי מתכונים עם חצילים, אני לא סובל את זה.",
        "תודה מותק! אגב, החלפתי עבודה, אני עכשיו ברפאל ולא באינטל.",
        "היי, חזרתי. הרופא אמר שיש לי חוסר בבי 12, אז זריקה פעם בחודש.",
        "אין בעיה, קח את הזמן. הטיסה שלי לאתונה ב-19 בבוקר, חוזרת ב-24.",
        "סבבה, ממשיכים. השם שלי נכתב ליאור בלי ה' בסוף, תתקן בבקשה במסמך.",
        "הבנתי, תודה על ההסבר. אצלנו כל קומיט חייב מספר טיקט, אחרת זה נחסם.",
        "ערב טוב, סליחה שנעלמתי. אחותי הילה התארסה, החתונה בספטמבר בקיבוץ דליה.",
        "מעולה, הולכים על זה. רק שההרצאה צריכה להיות באנגלית, יהיו אורחים מברלין.",
    ),
}


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument("--model", nargs="+", default=["bge-small-en-v1.5", "wordllama-256"])
    parser.add_argument("--sentences", type=existing_file, help="JSON lines in place of those of this script")
    arguments = parser.parse_args(argv)
    every = dict(SENTENCES)
    if arguments.sentences is not None:
        every = {}
        for one in lines(arguments.sentences, "language", "text"):
            every[one["language"]] = (*every.get(one["language"], ()), one["text"])
        if not every:
            raise UnusableError(f"{arguments.sentences} has no sentence")
    rows = []
    models = {name: load_embedder(EmbeddingSettings(model=name)) for name in arguments.model}
    for language, sentences in every.items():
        row: dict[str, object] = {"language": language}
        for name, embedder in models.items():
            said = np.array([knows(embedder, text) for text in sentences])
            row[name] = f"{said.mean():.2f} ({said.min():.2f}-{said.max():.2f})"
        rows.append(row)
    report("languages", rows, note="mean say of the vector channel, least and most")


if __name__ == "__main__":
    main()
