"""The items of TRIPOD+AI, in our words, with where a document answers them.

Collins et al. 2024, *TRIPOD+AI statement: updated guidance for reporting clinical prediction models
that use regression or machine learning methods*, BMJ 385:e078378.
"""

from __future__ import annotations

from typing import NamedTuple


class Item(NamedTuple):
    """An item of the guidance.

    ``section`` is the heading of the document that answers it, if it can, and ``lacking`` what that
    section does not tell. ``key`` is the text that an author can give for it.
    """

    number: str
    text: str
    section: str = ""
    key: str = ""
    lacking: str = ""


ITEMS = (
    Item("1", "Title: develops or evaluates a model, for whom, for what outcome", key="title"),
    Item("2", "Abstract", "In short"),
    Item("3a", "Medical context and why the model is needed", key="background"),
    Item("3b", "Population, purpose in the care pathway, intended users", key="purpose"),
    Item("3c", "Known inequalities in health between groups of people", key="inequalities"),
    Item("4", "Objectives: development, evaluation, or both", key="objectives"),
    Item("5a", "Sources of the data, and why they are representative", key="source"),
    Item("5b", "Dates of the data: start and end of collection, follow-up", key="period"),
    Item("6a", "Setting: kind and place of care, number of centres", key="setting"),
    Item("6b", "Who was eligible", key="eligibility"),
    Item("6c", "Treatments that participants had, and how they were handled", key="treatments"),
    Item("7", "Preparation of the data and checks of their quality", key="preparation"),
    Item("8a", "Outcome: definition, time horizon, how it was assessed", key="outcome"),
    Item("8b", "Who judged an outcome that needs judgement", key="outcome_assessors"),
    Item("8c", "Whether those who judged it knew the predictors", key="blinding"),
    Item("9a", "How predictors were chosen before the model was built", key="predictor_choice"),
    Item(
        *("9b", "How and when predictors were measured", "Predictors", "predictors"),
        "how and when cannot be known",
    ),
    Item("9c", "Who judged predictors that need judgement", key="predictor_assessors"),
    Item("10", "Sample size: how it was arrived at, and whether it suffices", "Sample size"),
    Item("11", "Missing values: how they were handled", "Predictors"),
    Item("12a", "How the data were divided for fitting and evaluation", "How the model was made"),
    Item("12b", "How predictors enter the model", "How the model was made"),
    Item("12c", "Kind of model, how it was built and validated", "How the model was made"),
    Item("12d", "Differences between centres or other clusters", key="clusters"),
    Item("12e", "Measures and figures of performance", "Discrimination and calibration"),
    Item("12f", "Updating of the model after evaluation", key="updating"),
    Item("12g", "How predictions are computed for new people", "Scoring code"),
    Item("13", "Imbalance of the classes, and recalibration after it", "How the model was made"),
    Item("14", "What was done for fairness between groups of people", key="fairness"),
    Item("15", "Output of the model, and thresholds of classes of risk", "Operating point"),
    Item("16", "Differences between rows of development and of evaluation", "Stability"),
    Item("17", "Approval of an ethics committee, and consent", key="ethics"),
    Item("18a", "Funding, and the role of funders", key="funding"),
    Item("18b", "Conflicts of interest", key="interests"),
    Item("18c", "Protocol: where it can be read", key="protocol"),
    Item("18d", "Registration of the study", key="registration"),
    Item("18e", "Whether and where the data can be had", key="data_sharing"),
    Item(
        *("18f", "Whether and where the code can be had", "Scoring code", "code_sharing"),
        "where cannot be known",
    ),
    Item("19", "Involvement of patients and the public", key="involvement"),
    Item("20a", "Flow of participants, with and without the outcome", key="flow"),
    Item("20b", "Characteristics of participants, with missing values", "Predictors"),
    Item("20c", "Predictors and outcome against those of development", "Stability"),
    Item("21", "Participants and events in each analysis", "In short"),
    Item("22", "The whole model, so that others can predict with it", "Table of points"),
    Item(
        *("23a", "Performance with intervals, also in subgroups"),
        *("Discrimination and calibration", "subgroups", "that of subgroups cannot be known"),
    ),
    Item("23b", "Performance in centres or other clusters", key="clusters"),
    Item("24", "Results of updating the model", key="updating"),
    Item("25", "Interpretation, with fairness, against earlier studies", key="interpretation"),
    Item("26", "Limitations, and what they mean", "What this document cannot know", "limitations"),
    Item("27a", "What is done where inputs are poor or missing", "Predictors"),
    Item("27b", "What users must know or do", key="users"),
    Item("27c", "Next steps of research", key="next_steps"),
)
#: What authors can say, in the order of the items.
KEYS = tuple(dict.fromkeys(item.key for item in ITEMS if item.key))
