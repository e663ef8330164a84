"""Languages by their codes, without the large libraries for codes."""

import re

# Codes with a shorter or newer one, such as deu:de and iw:he, and those of a macrolanguage's usual member, such as
# cmn:zh; from Unicode's CLDR, by langcodes 3.5.
_REPLACED = (
    "in:id iw:he ji:yi jw:jv mo:ro sh:sr tl:fil aam:aas aar:aa abk:ab adp:dz afr:af agp:apf ais:ami "
    "aju:jrb aka:ak alb:sq als:sq amh:am ara:ar arb:ar arg:an arm:hy asd:snz asm:as aue:ktz ava:av "
    "ave:ae aym:ay ayr:ay ayx:nun aze:az azj:az bak:ba bam:bm baq:eu baz:nvo bcc:bal bcl:bik bel:be "
    "ben:bn bgm:bcg bhk:fbl bic:bir bih:bh bis:bi bjd:drl bjq:bzc bkb:ebk blg:iba bod:bo bos:bs bre:br "
    "btb:beb bul:bg bur:my bxk:luy bxr:bua cat:ca ccq:rki ces:cs cha:ch che:ce chi:zh chu:cu chv:cv "
    "cjr:mom cka:cmr cld:syr cmk:xch cmn:zh cnr:sr cor:kw cos:co coy:pij cqu:quh cre:cr cwd:cr cym:cy "
    "cze:cs daf:dnj dan:da dap:njz deu:de dgo:doi dhd:mwr dik:din diq:zza dit:dif div:dv djl:dze "
    "dkl:aqd drh:mn drr:kzk drw:fa dud:uth duj:dwu dut:nl dwl:dbt dzo:dz ekk:et ell:el elp:amq emk:man "
    "eng:en epo:eo esk:ik est:et eus:eu ewe:ee fao:fo fas:fa fat:ak fij:fj fin:fi fra:fr fre:fr fry:fy "
    "fuc:ff ful:ff gav:dev gaz:om gbc:wny gbo:grb geo:ka ger:de gfx:vaj ggn:gvr ggo:esg ggr:gtu gio:aou "
    "gla:gd gle:ga glg:gl gli:kzk glv:gv gno:gon gre:el grn:gn gti:nyc gug:gn guj:gu guv:duz gya:gba "
    "hat:ht hau:ha hbs:sr hdn:hai hea:hmn heb:he her:hz him:srx hin:hi hmo:ho hrr:jal hrv:hr hun:hu "
    "hye:hy ibi:opa ibo:ig ice:is ido:io iii:ii ike:iu iku:iu ile:ie ill:ilm ilw:gal ina:ia ind:id "
    "ipk:ik isl:is ita:it izi:eza jar:jgk jav:jv jeg:oyb jpn:ja kal:kl kan:kn kas:ks kat:ka kau:kr "
    "kaz:kk kdv:zkd kgc:tdf kgd:ncq kgh:kml khk:mn khm:km kik:ki kin:rw kir:ky kmr:ku knc:kr kng:kg "
    "knn:kok koj:kwv kom:kv kon:kg kor:ko kpp:jkm kpv:kv krm:bmf ktr:dtp kua:kj kur:ku kvs:gdj kwq:yam "
    "kxe:tvd kxl:kru kzh:dgl kzj:dtp kzt:dtp lao:lo lat:la lav:lv lbk:bnc leg:enl lii:raq lim:li lin:ln "
    "lit:lt llo:ngt lmm:rmx ltz:lb lub:lu lug:lg lvs:lv mac:mk mah:mh mal:ml mao:mi mar:mr may:ms "
    "meg:cir mgx:jbk mhr:chm mkd:mk mlg:mg mlt:mt mnk:man mnt:wnn mof:xnt mol:ro mon:mn mri:mi msa:ms "
    "mst:mry mup:raj mwd:dmw mwj:vaj mya:my myd:aog myt:mry nad:xny nau:na nav:nv nbf:nru nbl:nr "
    "nbx:ekc ncp:kdz nde:nd ndo:ng nep:ne nld:nl nln:azd nlr:nrk nno:nn nns:nbr nnx:ngv nob:nb noo:dtd "
    "nor:no npi:ne nts:pij nxu:bpp nya:ny oci:oc ojg:oj oji:oj ori:or orm:om ory:or oss:os oun:vaj "
    "pan:pa pat:kxr pbu:ps pcr:adx per:fa pes:fa pli:pi plt:mg pmc:huw pmu:phr pnb:lah pol:pl por:pt "
    "ppa:bfy ppr:lcq prs:fa pry:prt pus:ps puz:pub que:qu quz:qu rmr:emx rmy:rom roh:rm ron:ro rum:ro "
    "run:rn rus:ru sag:sg san:sa sap:aqt sca:hle scc:sr scr:hr sgl:isk sin:si skk:oyb slk:sk slo:sk "
    "slv:sl sme:se smo:sm sna:sn snd:sd som:so sot:st spa:es spy:kln sqi:sq src:sc srd:sc srp:sr ssw:ss "
    "sul:sgd sum:ulw sun:su swa:sw swc:sw swe:sv swh:sw tah:ty tam:ta tat:tt tdu:dtp tel:te tgg:bjp "
    "tgk:tg tgl:fil tha:th thc:tpo thw:ola thx:oyb tib:bo tid:itd tie:ras tir:ti tkk:twm tlw:weo "
    "tmp:tyj tne:kak tnf:fa ton:to tsf:taj tsn:tn tso:ts ttq:tmh tuk:tk tur:tr twi:tw uig:ug ukr:uk "
    "umu:del unp:wro uok:ema urd:ur uzb:uz uzn:uz ven:ve vie:vi vol:vo wel:cy wgw:wgb wit:nol wiw:nwo "
    "wln:wa wol:wo xba:cax xho:xh xia:acn xkh:waw xpe:kpe xrq:dmw xsj:suj xsl:den ybd:rki ydd:yi "
    "yen:ynq yid:yi yiy:yrm yma:lrr ymt:mtm yor:yo yos:zom yuu:yug zai:zap zha:za zho:zh zir:scv zsm:ms "
    "zul:zu zyb:za "
)
_OF_CHINESE = {"CN": "Hans", "SG": "Hans", "HK": "Hant", "MO": "Hant", "TW": "Hant"}
_NEWER = dict(pair.split(":") for pair in _REPLACED.split())


def primary(code: str) -> str:
    """Return the language of a code without script and region, such as zh for zh_TW; other text in lower case."""
    language = re.split("[-_]", code.removeprefix("__label__"))[0].lower()
    return _NEWER.get(language, language)


def script(code: str) -> str | None:
    """Return the script that a code names or that its region implies for Chinese, such as Hant for zh-TW; or None."""
    _, *parts = re.split("[-_]", code)
    named = next((part.title() for part in parts if re.fullmatch("[A-Za-z]{4}", part)), None)
    if named is None and primary(code) == "zh":
        return next((found for part in parts if (found := _OF_CHINESE.get(part.upper()))), None)
    return named


def same_language(one: str, other: str) -> bool:
    """Return True if two codes have the same language, and do not name different scripts."""
    known = {found for code in (one, other) if (found := script(code)) is not None}
    return primary(one) == primary(other) and len(known) < 2
