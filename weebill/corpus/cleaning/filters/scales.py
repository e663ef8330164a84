"""Words of many languages for thousands and millions beside a number."""

import re
from unicodedata import normalize

# Beginnings of words (in lower case) and signs for a power of ten after a number, by exponent; an entry with a dot
# matches only a whole word.  "Billion" is 10^9 in English and 10^12 in most other languages.
_POWERS = {
    1: "成 割 할",
    3: """thousand tausend dausend mille mil. mila mii duizend duisend tusen tusind túsund þúsund tuhat tuhan
        tūkst tsd. hezar hazar ming. min. müň mijë milë tisoč tisíc tisuć hiljad tysią tys. tyś ribu ribě ewu
        libo ezer kun. elf. míle k. nghìn ngàn тысяч тыс. тис. тисяч хиляд хиљад илјад мың миң мең мянга ҳазор
        χιλιάδ χιλ. հազար ათას אלף אלפי ألف آلاف الف هزار هەزار ہزار زره مىڭ bin. हज़ार हजार হাজার হেজাৰ ਹਜ਼ਾਰ
        હજાર ହଜାର ஆயிர వేల వెయ్యి ಸಾವಿರ ആയിര දහස් දහසක් ሺ พัน ພັນ ពាន់ ထောင်""",
    4: "หมื่น ໝື່ນ ຫມື່ນ ម៉ឺន သောင်း vạn",
    5: """lakh लाख লাখ লক্ষ লাখ ਲੱਖ લાખ ଲକ୍ଷ லட்ச இலட்ச లక్ష ಲಕ್ಷ ലക്ഷ ලක්ෂ لاکھ لک แสน ແສນ សែន သိန်း""",
    6: """million millon millió millió milió milion milión milhã milhõ milio milijun milijon miljon miljo miljun
        miljón milljón milljon milliun miliwn milyon milyun miliyan miliyoni milioi miloi mln. mio. mil. mi. mn.
        m. juta yuta triệu tapitrisa миллион милион милијун милли мільй мільё мілья млн. сая милл. εκατομμύρι
        εκατομμυρί εκατ. միլիոն մլն მილიონ მლნ מיליון מליון مليون ملايين میلیون ملیون ملين ملین مىليون ملیۆن
        ملیۆن मिलियन मिलिअन দশলক্ষ মিলিয়ন নিযুত ਮਿਲੀਅਨ મિલિયન ମିଲିୟନ மில்லியன் మిలియన్ ಮಿಲಿಯನ್ മില്യൺ മില്യണ്
        ദശലക്ഷ മില്ല്യൺ දශලක්ෂ මිලියන ሚሊዮን ล้าน ລ້ານ លាន သန်း""",
    7: "crore करोड कोटि कोटी কোটি ਕਰੋੜ કરોડ କୋଟି கோடி కోటి కోట్ల ಕೋಟಿ കോടി කෝටි کروڑ ڪروڙ កោដិ ကုဋေ",
    9: """milliard miliard miljard miljardi milyar miliar miljar milijard miljarð milyard mld. mlrd. mrd. mia.
        mdr. md. bn. bi. billion bilion bilhã bilhõ bilyon bilyun biliyan biliyoni biliwn biljun billiún
        миллиард милиард милијард мільярд мільярд міліярд милард млрд. тэрбум δισεκατομμύρι δισεκατομμυρί δισ.
        միլիարդ մլրդ მილიარდ მლრდ מיליארד مليار میلیارد ملیارد مىليارد ارب अरब अर्ब अब्ज বিলিয়ন ਅਰਬ ਬਿਲੀਅਨ અબજ
        બિલિયન பில்லியன் బిలియన్ ಬಿಲಿಯನ್ ബില്യൺ ശതകോടി बिलियन බිලියන ቢሊዮን พันล้าน ຕື້ ប៊ីលាន ဘီလီယံ tỷ tỉ""",
    11: "खर्ब खरब کھرب",
    12: """billion billón bilión bilion biljon biljoen billones trillion trilion trilhã trilhõ trilyon trn. tri.
        трлн. триллион трилион трильйон трыльён τρισεκατομμύρι τρισεκατομμυρί եռիլիոն טריליון تريليون تریلیون
        ट्रिलियन ট্রিলিয়ন டிரில்லியன் ట్రిలియన్ ትሪሊዮን ล้านล้าน ລ້ານລ້ານ""",
    18: "trillion trilion trillón trilión",
}
# Words for a power of ten before a number, as in Swahili, Hausa and Burmese.
_POWERS_BEFORE = {
    3: "elfu dubu ibihumbi puku izinkulungwane ထောင်",
    4: "သောင်း",
    5: "laki သိန်း",
    6: "milioni miliyan miliyoni mamiliyoni obukadde izigidi nde miriyoni mílíọ̀nù သန်း",
    7: "ကုဋေ",
    9: "bilioni biliyan biliyoni ijeri bílíọ̀nù",
    12: "trilioni tiriliyan",
}


def _by_word(powers: dict[int, str]) -> dict[str, set[int]]:
    """Return the powers of each word, composed as cleaning composes text."""
    words: dict[str, set[int]] = {}
    for power, listed in powers.items():
        for word in normalize("NFC", listed).split():
            words.setdefault(word, set()).add(power)
    return words


_AFTER, _BEFORE = _by_word(_POWERS), _by_word(_POWERS_BEFORE)
_LONGEST = max(map(len, _AFTER))
# Lengths of the words after a number by their first letter, the longest first.
_LENGTHS = {
    first: sorted({len(word.rstrip(".")) for word in _AFTER if word[0] == first}, reverse=True)
    for first in {word[0] for word in _AFTER}
}
_ENDS = {word[-1] for word in _BEFORE} | set("aး")
# Romanian and Tagalog put a word between number and scale: 20 de milioane.
_LINK = re.compile(r"[\s-]?(?:(?:de|na|ka)\s)?", re.IGNORECASE)
_WORD_END = re.compile(r"[^\s\d]{0,6}\s")
_LAST_WORD = re.compile(r"([^\s\d]{3,12})(?:\sza|\sya|ပေါင်း)?\Z")
_WINDOW = 20  # characters before a number in which a word is searched


def powers_of_ten(text: str, start: int, end: int) -> set[int]:
    """Return the powers of ten of the words for thousands or millions beside the number text[start:end].

    Several words may follow each other: 3 mil millones.
    """
    place = _LINK.match(text, end).end()
    powers, length = _word_at(text, place)
    if length:
        place += length
        more, length = _word_at(text, place)
        if not length and (gap := _WORD_END.match(text, place)):
            more, _ = _word_at(text, gap.end())
        powers = powers | {power + another for power in powers for another in more}
    before = text[max(0, start - _WINDOW) : start].rstrip().lower()
    if before[-1:] in _ENDS and (last := _LAST_WORD.search(before)):
        word = last[1]
        powers = powers | next(
            (_BEFORE[word[n:]] for n in range(len(word)) if word[n:] in _BEFORE), set()
        )
    return powers


def _word_at(text: str, place: int) -> tuple[set[int], int]:
    """Return powers and length of the table's longest word at a place of a line; the length is 0 if there is none."""
    ahead = text[place : place + _LONGEST + 1].lower()
    for length in _LENGTHS.get(ahead[:1], ()):
        powers = set(_AFTER.get(ahead[:length], ()))
        if not ahead[length : length + 1].isalnum():
            powers |= _AFTER.get(f"{ahead[:length]}.", set())
        if powers:
            return powers, length
    return set(), 0
