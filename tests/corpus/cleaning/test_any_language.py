"""Cleaning with default settings keeps good pairs of any language, and drops bad ones."""

import re

import numpy as np
import pytest

from tests.corpus.cleaning.verdicts import verdicts
from weebill.corpus.cleaning.clean import Cleaning, clean_corpus
from weebill.corpus.cleaning.filters import FILTERS
from weebill.corpus.cleaning.preparation import prepare_rows
from weebill.corpus.cleaning.rules import Rules
from weebill.corpus.table import read_columns, write_table
from weebill.text_files import read_lines

KEPT = {
    "ja": [
        ("Over 100,000 people live there.", "そこには10数万人が住んでいる。"),
        ("The rate fell by 12.05 percent.", "その率は十二・〇五パーセント下がった。"),
        ("About 30 percent agreed with it.", "約3割の人が賛成した。"),
        ("It opened in 2019 in the town.", "それは平成31年に開業した。"),
        ("He was born in 1985 in Tokyo.", "彼は昭和60年に東京で生まれた。"),
        ("It opened in 2019 in the town.", "それは令和元年に町で開業した。"),
        ("It opened in 2019 in the town.", "それは平成三十一年に開業した。"),
        ("It lived 390,000 to 420,000 years ago.", "それは39～42万年前に生きていた。"),
        ("It opened in the town in 2019.", "それは平成31年（2019年）に町で開業した。"),
        ("Where is the nearest station?", "最寄りの駅はどこにありますか。"),
        ("The weather is nice today.", "今日はとてもいい天気ですね。"),
        ("I can't do it.", "私にはそれはできません。"),
        ("My five-year-old daughter goes to the kindergarten.", "5歳の娘は幼稚園に通っています。"),
        ("It was published on March 3.", "それは3月3日に発表されました。"),
        ("The train leaves at 5:45 p.m. from there.", "電車は17時45分に発車します。"),
        ("The company sold 15,000 cars last year.", "その会社は昨年1万5000台の車を売った。"),
        ("Please see https://e.org/a for the news.", "https://e.org/aで新しいお知らせをご覧ください。"),
    ],
    "zh": [
        ("More than 100,000 people live there.", "那里住着10多万人。"),
        ("About 70 percent agreed with it.", "大约7成的人同意。"),
        ("The law was passed in 2021.", "該法於民國110年通過。"),
        ("It lived 4.2-3.9 million years ago.", "它生活在420万至390万年前。"),
        ("About 10,000 people took part in the march.", "大约1万人参加了游行。"),
        ("The bridge was opened in 1998.", "这座桥于一九九八年通车。"),
        ("The rate fell by 12.5 percent.", "该比率下降了百分之十二点五。"),
        ("They sold 350 million of them.", "他們賣出三點五億個。"),
        ("It costs 2.5 billion dollars to build.", "建造它需要花费25亿美元。"),
        ("They counted 120 million voters in May.", "他们在5月统计了1.2亿选民。"),
        ("See http://a.org/x, the rules are at the end of it.", "有关此事项请参阅http://a.org/x，规则在最后。"),
    ],
    "ko": [
        ("More than 100,000 people live there.", "그곳에는 10여만 명이 산다."),
        ("The country has 50 million people.", "그 나라의 인구는 오천만 명이다."),
        ("The city has 35 million inhabitants.", "이 도시의 인구는 3500만 명이다."),
        ("The shop opens at 9 o'clock in the morning.", "가게는 아침 9시에 문을 엽니다."),
    ],
    "th": [
        ("Where is the station?", "สถานีอยู่ที่ไหน"),
        ("Thank you very much for your help yesterday.", "ขอบคุณมากสำหรับความช่วยเหลือของคุณเมื่อวานนี้"),
        ("The war ended in 1998 in the south.", "สงครามสิ้นสุดลงในปี พ.ศ. 2541 ทางใต้"),
        ("There are 25 students in this room.", "มีนักเรียน ๒๕ คนในห้องนี้"),
        ("It opened on 12 May 2010 in the south.", "เปิดเมื่อวันที่ 12 พฤษภาคม 2553 ทางใต้"),
    ],
    "km": [
        ("Where is the railway station in this city?", "តើស្ថានីយ៍រថភ្លើងនៅឯណាក្នុងទីក្រុងនេះ?"),
        ("The town has 20,000 people.", "ទីក្រុងនេះមានមនុស្ស ២ ម៉ឺន នាក់។"),
    ],
    "my": [
        ("I am learning to write in Burmese.", "ကျွန်တော် မြန်မာလို ရေးတတ်အောင် သင်ယူနေပါတယ်။"),
        ("The town has 200,000 people.", "မြို့တွင် လူ ၂ သိန်း ရှိသည်။"),
        ("The town has 20,000 people.", "မြို့တွင် လူ ၂ သောင်း ရှိသည်။"),
    ],
    "lo": [("We are going to the market today.", "ມື້ນີ້ພວກເຮົາຈະໄປຕະຫຼາດ")],
    "ar": [
        ("The population is 1,234,567 people.", "يبلغ عدد السكان ١٬٢٣٤٬٥٦٧ نسمة."),
        ("The rate rose to 3.5 percent.", "ارتفع المعدل إلى ٣٫٥ في المئة."),
        ("See https://a.org/b, which was changed today.", "انظر https://a.org/b، الذي تم تغييره اليوم."),
    ],
    "fa": [
        ("It has 83,500 members in 12 towns.", "این سازمان ۸۳٬۵۰۰ عضو در ۱۲ شهر دارد."),
        ("The law was passed in 2023.", "این قانون در سال ۱۴۰۲ تصویب شد."),
    ],
    "hi": [
        ("They need 350,000 rupees for it.", "उन्हें इसके लिए 3 लाख 50 हज़ार रुपये चाहिए।"),
        ("The village has 1,50,000 inhabitants now.", "गाँव में अब १,५०,००० निवासी हैं।"),
        ("They spent 30 million rupees on it.", "उन्होंने इस पर 3 करोड़ रुपये खर्च किए।"),
    ],
    "fr": [
        ("They paid 1.5 million euros in total.", "Ils ont payé 1\u2009500\u2009000 euros au total."),
        ("They paid 1,500,000 euros in total.", "Ils ont payé 1 500 000 euros au total."),
        ("The meeting starts at 3:30 p.m.", "La réunion commence à 15 h 30."),
        ("It starts at 9 o'clock tomorrow.", "Cela commence demain à 09 h."),
        ("In the 1980s the street was wider.", "Dans les années 80, la rue était plus large."),
    ],
    "de": [
        ("There are 20 students in the room.", "Im Zimmer sind zwanzig Studenten."),
        ("It costs 1.2 million euros a year.", "Es kostet 1,2 Millionen Euro im Jahr."),
        ("On May 6, 2010 he left the town.", "Am 6.5.2010 verließ er die Stadt."),
        ("It cost 1200 euros to repair.", "Die Reparatur hat 1.200 Euro gekostet."),
        ("We are free on August 25th.", "Wir haben am 25.8. Zeit."),
        ("He left on the sixth of May 2010.", "Am 6.5.2010 ist er gegangen."),
        ("The train leaves at 2:30 p.m. today.", "Der Zug fährt heute um 14.30 Uhr ab."),
        ("Read John 3:16 and 3 more verses.", "Lies Johannes 3,16 und 3 weitere Verse."),
        ("The sheet is 29¾ inches wide.", "Das Blatt ist 29,75 Zoll breit."),
        ("The price fell to 2.1 euros.", "Der Preis fiel auf 2,10 Euro."),
    ],
    "ru": [("The plant makes 3 thousand cars a day.", "Завод выпускает 3000 машин в день.")],
    "pl": [("The fund has 2 billion zloty.", "Fundusz ma 2 miliardy złotych.")],
    "fi": [("We don't go there at all.", "En mene taloommekaan.")],
    "tr": [("We could not come to your house.", "Evinize gelemedik.")],
    "sr": [("Where were you yesterday?", "Gde si bio juče?")],
    "te": [
        ("1 million people live in this city.", "ఈ నగరంలో 10 లక్షల మంది నివసిస్తున్నారు."),
    ],
    "ta": [
        ("The town has 500,000 people.", "நகரில் 5 லட்சம் மக்கள் உள்ளனர்."),
        ("He bought 1,500,000 of them.", "அவர் 15 லட்சம் வாங்கினார்."),
    ],
    "gu": [
        ("The town has 500,000 people.", "શહેરમાં 5 લાખ લોકો છે."),
    ],
    "kn": [
        ("The town has 500,000 people.", "ನಗರದಲ್ಲಿ 5 ಲಕ್ಷ ಜನರಿದ್ದಾರೆ."),
    ],
    "ml": [
        ("The town has 500,000 people.", "പട്ടണത്തിൽ 5 ലക്ഷം ആളുകളുണ്ട്."),
    ],
    "pa": [
        ("The town has 500,000 people.", "ਸ਼ਹਿਰ ਵਿੱਚ 5 ਲੱਖ ਲੋਕ ਹਨ।"),
    ],
    "mr": [
        ("They spent 30 million rupees on it.", "त्यांनी त्यावर 3 कोटी रुपये खर्च केले."),
    ],
    "ne": [
        ("They spent 30 million rupees on it.", "उनीहरूले यसमा ३ करोड खर्च गरे।"),
    ],
    "es": [
        ("The debt is 3,000,000,000 euros now.", "La deuda es de 3 mil millones de euros ahora."),
    ],
    "ro": [
        ("The city has 20,000,000 people now.", "Orașul are 20 de milioane de oameni acum."),
    ],
    "sw": [
        ("The town has 3,000,000 people now.", "Mji una watu milioni 3 sasa."),
        ("The shop closes at 8:30 p.m. today.", "Duka linafungwa saa 2:30 usiku leo."),
    ],
    "am": [("The shop opens at 8 a.m. today.", "ሱቁ ዛሬ ከጠዋቱ 2 ሰዓት ይከፈታል።")],
    "kk": [
        ("The town has 3,000 people now.", "Қалада қазір 3 мың адам тұрады."),
    ],
    "et": [
        ("The town has 3,000,000 people now.", "Linnas on praegu 3 miljonit elanikku."),
    ],
    "is": [
        ("It has 3,000,000 people now.", "Þar búa nú 3 milljónir manna."),
    ],
    "hr": [
        ("It has 3,000,000 people now.", "Sada ima 3 milijuna ljudi."),
    ],
    "sl": [
        ("It has 3,000,000 people now.", "Zdaj ima 3 milijone ljudi."),
    ],
    "it": [
        ("It has 3,000,000 people now.", "Ora ha 3 milioni di abitanti."),
    ],
    "tl": [
        ("It has 3,000,000 people now.", "Mayroon itong 3 na milyong tao ngayon."),
    ],
}  # fmt: skip
DROPPED = {
    "ja": [
        ("It opened in 2018.", "それは平成31年に開業した。", "numbers"),
        ("About 40 percent agreed with it.", "約3割の人が賛成した。", "numbers"),
        ("The bridge was opened in 1998.", "その橋は一九九七年に開通した。", "numbers"),
        ("About 10,000 people took part in it.", "約10万人がそれに参加した。", "numbers"),
        ("He is a very good teacher.", "彼はとてもとてもとてもとてもとてもとても良い", "repetition"),
        ("Yes.", "彼は昨日東京で新しい車を買ったと私に話してくれました。", "length_ratio"),
    ],
    "th": [
        ("The house is big.", "บ้านบ้านบ้านบ้านบ้าน", "repetition"),
        ("It opened on 12 May 2011 in the south.", "เปิดเมื่อวันที่ 12 พฤษภาคม 2553 ทางใต้", "numbers"),
    ],
    "zh": [
        ("The plan costs 3 million.", "该计划耗资五百万。", "numbers"),
        ("More than 200,000 people live there.", "那里住着10多万人。", "numbers"),
        ("The rate fell by 12.6 percent.", "该比率下降了百分之十二点五。", "numbers"),
    ],
    "ar": [("The rate rose to 3.5 percent.", "ارتفع المعدل إلى ٤٫٥ في المئة.", "numbers")],
    "fr": [
        ("They paid 1.6 million euros in total.", "Ils ont payé 1\u2009500\u2009000 euros au total.", "numbers"),
        ("In the 1970s the street was wider.", "Dans les années 80, la rue était plus large.", "numbers"),
        ("In the 1880s the street was wider.", "Dans les années 1980, la rue était plus large.", "numbers"),
        ("They paid 1,500,000 euros in total.", "Ils ont payé 1 600 000 euros au total.", "numbers"),
        ("The meeting starts at 3:30 p.m.", "La réunion commence à 16 h 30.", "numbers"),
    ],
    "de": [
        ("It rose by 3.5 percent last year.", "Es stieg im letzten Jahr um 35 Prozent.", "numbers"),
        ("There are 20 students in the room.", "Im Zimmer sind 30 Studenten.", "numbers"),
        ("The town has 12,000 inhabitants.", "Die Stadt hat 12 Einwohner.", "numbers"),
        ("The town has 3,000,000 inhabitants.", "Die Stadt hat 3 Einwohner.", "numbers"),
        ("The rate rose to 3.5 percent.", "Die Rate stieg auf 5,3 Prozent.", "numbers"),
        ("The rate rose to 3.5 percent.", "Die Rate stieg auf 3 Prozent.", "numbers"),
        ("The rate rose by 3.5 percent.", "Die Rate stieg um einige Prozent.", "numbers"),
        ("The train leaves at 2:30 p.m. today.", "Der Zug fährt heute um 14.50 Uhr ab.", "numbers"),
        ("On May 6, 2010 he left the town.", "Am 7.5.2010 verließ er die Stadt.", "numbers"),
        ("Install version 1.2.3 of it.", "Installieren Sie Version 1.3.2 davon.", "numbers"),
        ("It costs 1.2 million euros a year.", "Es kostet 1,3 Millionen Euro im Jahr.", "numbers"),
        ("The house is big and very beautiful.", "Das Haus Haus Haus Haus Haus Haus Haus.", "repetition"),
        ("<b>Press</b> the key <br/> now.", "Drücken Sie jetzt die Taste.", "markup"),
    ],
    "te": [
        ("2 million people live in this city.", "ఈ నగరంలో 10 లక్షల మంది నివసిస్తున్నారు.", "numbers"),
    ],
    "ta": [
        ("The town has 600,000 people.", "நகரில் 5 லட்சம் மக்கள் உள்ளனர்.", "numbers"),
    ],
    "my": [
        ("The town has 20,000 people.", "မြို့တွင် လူ ၂ သိန်း ရှိသည်။", "numbers"),
    ],
    "ko": [
        ("The country has 60,000,000 people.", "그 나라의 인구는 5000만 명이다.", "numbers"),
    ],
    "fa": [
        ("The law was passed in 2020.", "این قانون در سال ۱۴۰۲ تصویب شد.", "numbers"),
    ],
    "sw": [
        ("The town has 5,000,000 people now.", "Mji una watu milioni 3 sasa.", "numbers"),
        ("The shop closes at 9:30 p.m. today.", "Duka linafungwa saa 2:30 usiku leo.", "numbers"),
    ],
    "hi": [
        ("They need 450,000 rupees for it.", "उन्हें इसके लिए 3 लाख 50 हज़ार रुपये चाहिए।", "numbers"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("language", KEPT)
def test_good_pairs_stay(language):
    dropped = verdicts(language, KEPT[language])
    assert [pair for pair, name in zip(KEPT[language], dropped, strict=True) if name] == []


@pytest.mark.parametrize("language", DROPPED)
def test_bad_pairs_go(language):
    pairs = [pair[:2] for pair in DROPPED[language]]
    assert verdicts(language, pairs) == [pair[2] for pair in DROPPED[language]]


def test_rules_can_be_loosened_and_turned_off():
    pair = [
        ("Elections took place in 1998, 2004 and 2005.", "Wahlen fanden 1998, 2004 und 2006 statt.")
    ]
    assert verdicts("de", pair) == ["numbers"]
    assert verdicts("de", pair, Rules(max_unmatched_numbers=0.4)) == [None]
    assert verdicts("de", pair, Rules(disabled=("numbers",))) == [None]
    pair = [("There are 25 students.", "Es sind fünfundzwanzig Studenten.")]
    assert verdicts("de", pair, Rules(largest_number_in_words=12)) == ["numbers"]
    every = Rules(disabled=tuple(FILTERS))
    assert verdicts("de", [("", "1 <b>"), ("a", "a"), ("a " * 200, "b\ufffd")], every) == [None] * 3


def test_an_address_ends_at_a_mark_of_another_script():
    source = "See http://a.example.com/x for the full text of the regulation on this matter."
    target = (
        "有关此事项的规定全文，请参阅http://a.example.com/x。其他信息将在稍后公布，敬请期待谢谢。"
    )
    assert verdicts("zh", [(source, target)], Rules(max_length_ratio=4)) == [None]
    other = target.replace("com/x", "com/y")
    assert verdicts("zh", [(source, other)], Rules(max_length_ratio=4)) == ["urls"]


def test_entities_are_decoded(tmp_path, as_table):
    rows = [
        ("Tom &amp; Jerry sleep.", "Tom &amp; Jerry schlafen."),
        ("Tom &amp; Jerry don&#39;t sleep.", "Tom und Jerry schlafen nicht."),
        ("He said &amp;quot;no&amp;quot; twice.", "Er sagte zweimal &#x22;Nein&#34;."),
        ("AT&T; or Q&A; stays.", "AT&T; oder Q&A; bleibt."),
        ("See &regexp; or &notes; here.", "Siehe &regexp; oder &notes; hier."),
        ("It doesn\x92t \x96 it can\x85wait.", "Es geht nicht \x96 es kann\x85warten."),
    ]
    write_table(tmp_path / "in.parquet", as_table(rows))
    clean_corpus(tmp_path / "in.parquet", tmp_path / "out", ("en", "de"), Cleaning())
    kept = read_columns(tmp_path / "out", ["source", "target"]).to_pylist()
    assert [tuple(row.values()) for row in kept] == [
        ("Tom & Jerry sleep.", "Tom & Jerry schlafen."),
        ("Tom & Jerry don't sleep.", "Tom und Jerry schlafen nicht."),
        ('He said "no" twice.', 'Er sagte zweimal "Nein".'),
        ("AT&T; or Q&A; stays.", "AT&T; oder Q&A; bleibt."),
        ("See &regexp; or &notes; here.", "Siehe &regexp; oder &notes; hier."),
        ("It doesn't - it can wait.", "Es geht nicht - es kann warten."),
    ]
    as_is = Cleaning(rules=Rules(decode_entities=False))
    clean_corpus(tmp_path / "in.parquet", tmp_path / "raw", ("en", "de"), as_is)
    assert "&amp;" in read_columns(tmp_path / "raw", ["source"])["source"][0].as_py()


def test_rows_of_any_number_are_prepared():
    """Text files for scores are read so, as the corpora that are scored."""
    rows = [("It\u00adself &amp; you", "L’ami «dit»"), ("Second", "Deux")] * 3000
    found = [*prepare_rows(rows, ("en", "fr"), Rules(), None)]
    assert found == [("Itself & you", 'L\'ami "dit"'), ("Second", "Deux")] * 3000
    as_is = Rules(decode_entities=False)
    assert [*prepare_rows([("a &amp; b",)], ["en"], as_is, None)] == [("a &amp; b",)]


@pytest.mark.parametrize("scale", [0.4, 1, 2.2])
def test_the_expected_length_is_that_of_the_corpus(tmp_path, as_table, scale):
    draw = np.random.default_rng(1)
    lengths = draw.integers(20, 200, 2000)
    made = ["".join(draw.choice([*"abcdefgh"], n)) for n in lengths]
    others = ["x" + "".join(draw.choice([*"abcdefgh"], int(n * scale))) for n in lengths]
    shuffled = [*others[:1500], *draw.permutation(others[1500:]).tolist()]
    write_table(tmp_path / "in.parquet", as_table(list(zip(made, shuffled, strict=True))))
    rules = Rules(max_word_characters=1000)
    clean_corpus(tmp_path / "in.parquet", tmp_path / "out", ("en", "de"), Cleaning(rules=rules))
    dropped = read_columns(tmp_path / "out", ["dropped_by"], kept=False)["dropped_by"].to_pylist()
    assert dropped[:1500].count(None) == 1500
    assert dropped[1500:].count("length_ratio") > 250


LANGUAGES = {
    "ara": "ar", "cmn_Hans": "zh", "deu": "de", "fas": "fa", "fra": "fr", "hin": "hi",
    "hrv": "hr", "jpn": "ja", "kor": "ko", "rus": "ru", "tha": "th", "tur": "tr",
}  # fmt: skip


@pytest.mark.parametrize("name", LANGUAGES)
def test_professional_translations_stay_and_shuffled_ones_go(real_text, name):
    source, target = ([*read_lines(real_text(f"flores/{one}.devtest"))] for one in ("eng", name))
    kept = verdicts(LANGUAGES[name], list(zip(source, target, strict=True))).count(None)
    next_lines = [*target[1:], target[0]]
    dropped = len(source) - verdicts(
        LANGUAGES[name], list(zip(source, next_lines, strict=True))
    ).count(None)
    assert kept >= 0.95 * len(source)
    assert dropped >= 0.44 * len(source)


@pytest.mark.parametrize(
    ("number", "damaged"),
    [
        (r"\b(\d+),\d{3}\b", r"\1"),
        (r"\b(\d+)\.(\d*[1-9])\b(?!\.)", r"\2.\1"),
        (r"\b(\d+)\.(\d*[1-9])\b(?!\.)", r"\1"),
        (r"\b(1[5-9]\d|20\d)\d\b", r"\g<1>X"),
    ],
    ids=["lost thousands", "swapped decimals", "lost decimals", "another year"],
)
def test_a_damaged_number_is_found(real_text, number, damaged):
    lines = [
        line for line in read_lines(real_text("flores/eng.devtest")) if re.search(number, line)
    ]
    pairs = []
    for line in lines:
        digit = "7" if re.search(number, line)[0][-1] != "7" else "3"
        pairs.append((line, re.sub(number, damaged, line, count=1).replace("X", digit)))
    assert len(pairs) > 3
    assert verdicts("en", [pair for pair in pairs if pair[0] != pair[1]]).count(None) == 0
