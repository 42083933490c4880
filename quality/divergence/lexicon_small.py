"""Small words that change a meaning: groups, values and equivalences.

A small word belongs to a group and has a value in it; words with one value are equivalent. `TURNS` has the
groups whose words count even if only one text has one ("only", "if", "or", "must"). Words of the other groups
count only if exchanged ("to" for "from", "he" for "she"), because they come and go with the words they
attach.
"""

from __future__ import annotations

import re

from slowwave.scoring.wordlists import words


def _words(name: str) -> frozenset[str]:
    return frozenset(words("slowwave.quality", name))


_SMALL = {
    "self": {"i": "i me my mine myself", "we": "we us our ours ourselves", "you": "you your yours yourself",
             "he": "he him his himself", "she": "she her hers herself",
             "they": "they them their theirs themselves", "it": "it its itself"},
    "near": {"this": "this these", "those": "those"},
    "place": {"in": "in into inside within indoors indoor", "out": "out outside outdoors outdoor",
              "on": "on onto upon", "off": "off", "up": "up upward upwards upstairs",
              "down": "down downward downwards downstairs", "over": "over above",
              "under": "under below beneath underneath", "to": "to toward towards", "from": "from",
              "for": "for", "against": "against", "with": "with", "by": "by", "at": "at",
              "of": "of", "about": "about",
              "through": "through via throughout", "across": "across", "along": "along", "around": "around",
              "between": "between among", "beside": "beside", "per": "per", "than": "than"},
    "time": {"before": "before", "after": "after", "since": "since", "until": "until till",
             "during": "during"},
    "reason": {"because": "because", "as": "as", "so": "so therefore thus hence consequently",
               "although": "although though despite"},
    "tense": {"past": "was were had did", "present": "is are am has have do does"},
    "some": {"some": "some someone somebody something", "several": "several"},
    "both": {"both": "both", "either": "either"},
    # From here on an additional word is a difference.
    "all": {"all": "all every each everyone everybody everything", "any": "any anyone anything anybody",
            "most": "most", "few": "few", "many": "many"},
    "only": {"only": "only solely exclusively merely just"},
    "or": {"or": "or nor"},
    "condition": {"if": "if whether", "when": "when whenever",
                  "while": "while whilst whereas", "once": "once",
                  "unless": "unless"},
    "modal": {"must": "must", "should": "should ought", "may": "may might", "can": "can could",
              "will": "will shall", "would": "would"},
    "even": {"even": "even"},
}  # fmt: skip
LIGHT = {
    word: (group, value)
    for group, values in _SMALL.items()
    for value, words in values.items()
    for word in words.split()
}
TURNS = frozenset({"all", "only", "or", "condition", "modal", "even", "bound", "aspect", "except", "operator",
                   "question",                   "hedge"})  # fmt: skip

# Phrases that act as one small word; an empty key is a connective without meaning, or like "and".
_PHRASES = {
    "": "as well as;as well;in order to;so as to;for example;for instance;in addition to;"
        "in addition;each other;one another;"
        "along with;of course;in fact;that is to say;and so on;at the moment;at present",
    "reason:because": "due to the fact that;due to;owing to;because of;on account of",
    "reason:although": "in spite of;even though;even although",
    "condition:if": "as long as;so long as;provided that;in case of;in case;on condition that;"
        "in the event of;in the event that;on receipt of;upon receipt of;subject to;given that;"
        "if necessary;if needed;as needed;depending on",
    "condition:once": "as soon as",
    "time:before": "prior to",
    "place:out": "out of",
    "place:behind": "in back of",
    "all:some few": "a few;a couple of",
    "all:many": "a lot of;lots of;plenty of",
    "bound:least": "at least;no less than;not less than;no fewer than;or more;at the least",
    "bound:most": "at most;no more than;not more than;or less;or fewer;at the most;up to",
    "bound:more": "more than",
    "bound:less": "less than;fewer than",
    "aspect:used to": "used to;no longer",
    "aspect:first": "for the first time;for the last time",
    "modal:must": "have to;has to;had to;need to;needs to;needed to;has got to;have got to",
    "modal:should": "had better",
    "modal:can": "able to",
    "modal:will": "going to;gonna;about to",
    "except": "other than;rather than;instead of;apart from;except for;aside from;"
        "with the exception of;but for;in place of",
    "hedge:said": "according to;in theory;in principle",
}  # fmt: skip


def _phrases() -> dict[str, tuple[tuple[re.Pattern[str], str], ...]]:
    """Group phrases by first word, longest first."""
    by_head: dict[str, list[tuple[str, str]]] = {}
    for key, texts in _PHRASES.items():
        for text in texts.split(";"):
            by_head.setdefault(text.partition(" ")[0], []).append((text, key))
    return {
        head: tuple(
            (re.compile(r"\s+".join(map(re.escape, text.split())) + r"(?!\w)", re.IGNORECASE), key)
            for text, key in sorted(of_head, key=lambda pair: -len(pair[0]))
        )
        for head, of_head in by_head.items()
    }


PHRASES = _phrases()

# Opposites: exchanging them is a difference, whatever else was added.
OPPOSITES = {
    f"{group}:{one}": f"{group}:{other}"
    for group, pairs in {
        "place": "in-out on-off up-down over-under to-from for-against",
        "time": "before-after since-until",
        "reason": "because-although",
    }.items()
    for pair in pairs.split()
    for one, other in (pair.split("-"), pair.split("-")[::-1])
}
# Small words that may replace each other.
_EQUIVALENT = """
    since-because as-because as-since in-at on-at in-during by-beside by-near beside-near near-at across-over
    along-across through-across around-about with-of on-through in-through on-along on-across from-off
    down-along
"""
EQUIVALENT = frozenset(frozenset(pair.split("-")) for pair in _EQUIVALENT.split())

# Words that bound the number after them: over 10, about 5.
BOUNDS = {
    "over": "more", "above": "more", "under": "less", "below": "less", "about": "about", "around": "about",
    "approximately": "about", "roughly": "about", "circa": "about", "nearly": "almost", "almost": "almost",
    "exactly": "exactly", "within": "within", "every": "every", "maximum": "most", "minimum": "least",
    "~": "about", "beyond": "more",
}  # fmt: skip
EXCEPT_AFTER = _words("except_after")

TURNING_WORDS = _words("turning")
TURNING_VERBS = _words("turning_verbs")
