"""Tables of text between stages: cleaned, scored, back-translated, distilled."""


def cleaning_of(corpus):
    """Return the settings of `cleaning` for one corpus."""
    return section_of(config, corpus, "cleaning")


def selected(corpora):
    """Return the tables of corpora for the stages after cleaning, selected by scores if there are any."""
    return [
        CORPORA
        / name
        / ("selected" if scores_of(config, name, "cleaning") else "cleaned")
        for name in corpora
    ]


def score_tables(folder, stage):
    """Return the input function for a corpus' score tables at a stage, in the order in which they drop rows."""

    def tables(wildcards):
        names = scores_of(config, wildcards.corpus, stage)
        return [folder / wildcards.corpus / "scores" / name for name in names]

    return tables


def scored_text(wildcards):
    """Return the table to score: a corpus, a translated corpus, or labelled or damaged pairs."""
    form = {
        "corpora": "cleaned",
        "back_translated": "merged.parquet",
        "distilled": "merged.parquet",
        "scoring": "pairs.parquet",
    }
    return RESULTS / wildcards.scored / form[wildcards.scored.split("/")[0]]


def scores_before(corpus):
    """Return the names of a corpus' scores that need neither a reverse model nor bicleaner."""
    names = scores_of(config, corpus, "cleaning")
    later = ("bicleaner", "reverse_model", "combined")
    return [name for name in names if name not in later]


def cleaning_stages():
    """Return the experiment's stages of cleaning; a student is trained on the text of each."""
    scores = config["cleaning"]["scores"]
    weighted = scores.get("reverse_model", {}).get("weight_scale")
    there = {"none": True, "rules": True, "scores": scores, "weights": weighted}
    return [stage for stage in STAGES if there[stage]]


def damaged():
    """List the corpora into which damage is injected."""
    return [name for name, entry in config["corpora"].items() if "noise" in entry]


def language_model_text(wildcards):
    """Return the text of a language model: the configuration's own files, or the cleaned corpora."""
    own = config["scoring"]["language_model"].get(f"{wildcards.side}_text")
    if own is not None:
        return present(own)
    kind = "forward" if wildcards.side == "source" else "backward"
    names = [*PARALLEL, *corpora_of(config, kind)]
    return [CORPORA / name / "cleaned" for name in names]


def lexical_translation_text(wildcards):
    """Return the text for counts of word translations: the configuration's files, or the cleaned parallel corpora."""
    own = config["scoring"]["lexical_translation"]
    if "source_text" in own:
        return {side: present(own[f"{side}_text"]) for side in ("source", "target")}
    return {"corpora": expand(CORPORA / "{name}/cleaned", name=PARALLEL)}


def translated(folder, corpora, stage):
    """Return the tables of translated corpora, selected by the scores of the stage if it has any."""
    name = "selected" if config[stage]["scores"] else "merged"
    return [folder / corpus / f"{name}.parquet" for corpus in corpora]


def back_translated(corpora):
    """Return the tables of target-side corpora with the reverse teacher's translations as sources."""
    return translated(BACK_TRANSLATED, corpora, "back_translation")


def teacher_back_translations():
    """Return the tables of back-translated text for training the teacher."""
    if not config["teacher"]["back_translated"]:
        return []
    return back_translated(corpora_of(config, "backward"))


def reversible():
    """Return the parallel corpora for training reverse models.

    A reverse model that scores the corpora is trained before the scores exist, so it reads the cleaned corpora.
    """
    scores = config["cleaning"]["scores"]
    if SCORER or "reverse_model" in scores:
        return expand(CORPORA / "{corpus}/cleaned", corpus=PARALLEL)
    return selected(PARALLEL)


def distillable(corpora):
    """Return the tables whose source side the teacher translates: corpora, or back-translations of target text."""
    return [
        table
        for name in corpora
        for table in (
            back_translated([name])
            if name in corpora_of(config, "backward")
            else selected([name])
        )
    ]


def texts_of(kind):
    """Return the tables of one kind of training text."""
    corpora = corpora_of(config, kind)
    if kind == "backward":
        return back_translated(corpora)
    return translated(DISTILLED, corpora, "distillation")


def joined(suffix):
    """Return the tables of a training text, "@NAME" or "" for the first."""
    texts = training_texts(config)
    name = suffix.removeprefix("@") or next(iter(texts))
    if name not in texts:
        stop(
            f"{CONFIG_FILE}: distillation.training_texts: has no '{name}', but {', '.join(texts)}"
        )
    return [table for kind in texts[name] for table in texts_of(kind)]


def training_text(wildcards):
    """Return the table of a student's training text: the first one, or the one in the student's name."""
    text = text_of(wildcards.student)
    suffix = f"@{text}" if text else ""
    if config["training"]["guided_alignment"]:
        size = vocabulary_size(config, entry_of(wildcards.student))
        return [ALIGNED / size / f"training{suffix}.parquet"]
    return [student_text(suffix)]


def student_text(suffix=""):
    """Return the table of a training text, "@NAME" or "" for the first, with the rows that augmentation adds."""
    augmented = "augmentation" in config["distillation"]
    return DISTILLED / f"{'augmented' if augmented else 'training'}{suffix}.parquet"


def scored_translations():
    """Return the translated corpora that are also selected by scores, by their names in the report."""
    found = {}
    for kind in learnt_kinds(config):
        stage = "back_translation" if kind == "backward" else "distillation"
        word = "translated back" if kind == "backward" else "distilled"
        if config[stage]["scores"]:
            names = [f"{name}, {word}" for name in corpora_of(config, kind)]
            found |= dict(zip(names, texts_of(kind)))
    return found
