"""Forms of a word that no rule of endings leads back to it: "met", "bought", "mice", "нашёл", "дети".

Left out are forms that are more often a word of their own than a form of another: bit, bore, born, bound, dice, dove, ground,
lay, lives, lit, rose, shot, spat, stuck, wound; and those that have the stem of another word: rang (range), proven
(provenance), еду (еда), сел (село). "left", "found", "felt", "saw" and "led" are in: of what a person tells of their days
nearly all are verbs, and a left turn is still found by "left", which is read alike wherever it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from snowballstemmer.english_stemmer import EnglishStemmer
from snowballstemmer.russian_stemmer import RussianStemmer

_VERBS = """
arise arose arisen; awake awoke awoken; beat beaten; become became; begin began begun; bend bent; bite bitten; bleed bled; blow blew blown
break broke broken; breed bred; bring brought; build built; burn burnt; buy bought; catch caught; choose chose chosen; cling clung
come came; creep crept; deal dealt; dig dug; draw drew drawn; dream dreamt; drink drank drunk; drive drove driven; eat ate eaten
fall fell fallen; feed fed; feel felt; fight fought; find found; flee fled; fling flung; fly flew flown; forbid forbade forbidden
foresee foresaw foreseen; forget forgot forgotten; forgive forgave forgiven; freeze froze frozen; give gave given; go went gone
grow grew grown; hang hung; hear heard; hide hid hidden; hold held; keep kept; kneel knelt; know knew known; lay laid; lead led
lean leant; leap leapt; learn learnt; leave left; lend lent; lose lost; mean meant; meet met; mislead misled; mistake mistook mistaken
misunderstand misunderstood; outgrow outgrew outgrown; overcome overcame; overhear overheard; oversleep overslept; overtake overtook overtaken
pay paid; rebuild rebuilt; repay repaid; resell resold; rethink rethought; rewrite rewrote rewritten; ride rode ridden
rise risen; run ran; see saw seen; seek sought; sell sold; send sent; sew sewn; shake shook shaken; shine shone; show shown
shrink shrank shrunk; sing sang sung; sink sank sunk; sit sat; sleep slept; slide slid; sling slung; smell smelt; sneak snuck; sow sown
speak spoke spoken; speed sped; spell spelt; spend spent; spill spilt; spin spun; spoil spoilt; spring sprang sprung; stand stood
steal stole stolen; sting stung; stink stank stunk; stride strode; strike struck; string strung; strive strove striven; swear swore sworn
sweep swept; swell swollen; swim swam swum; swing swung; take took taken; teach taught; tear tore torn; think thought; throw threw thrown
undergo underwent undergone; understand understood; undertake undertook undertaken; undo undid undone; uphold upheld; wake woke woken
wear wore worn; weave wove woven; weep wept; win won; withdraw withdrew withdrawn; write wrote written
"""
_NOUNS = """
child children; grandchild grandchildren; stepchild stepchildren; godchild godchildren; man men; woman women; policeman policemen
fireman firemen; salesman salesmen; businessman businessmen; craftsman craftsmen; gentleman gentlemen; fisherman fishermen
mouse mice; tooth teeth; foot feet; goose geese; ox oxen; louse lice; knife knives; wife wives; housewife housewives; half halves
shelf shelves; bookshelf bookshelves; wolf wolves; loaf loaves; thief thieves; calf calves; scarf scarves; hoof hooves; dwarf dwarves
criterion criteria; phenomenon phenomena; matrix matrices; appendix appendices
"""
_RUSSIAN = """
идти иду идешь идет идем идете идут шел шла шло шли; ехать едешь едет едут; поехать поеду поедешь поедет поедем поедете поедут
съесть съешь съест съедим съедят съел съела съели; взять возьму возьмешь возьмет возьмем возьмете возьмут
сесть сяду сядет сядут; лечь лягу ляжет лягут лег легла легли; помочь помогу поможет поможем помогут помог помогла помогли
купить куплю; продать продам продаст; написать напишу напишет напишем напишут; писать пишу пишет пишем пишут
сказать скажу скажет; искать ищу ищет ищем ищут; ждать жду ждет ждем ждут
пить пью пьет пьем пьют; вырасти вырос выросла выросли
принять приму примет примем примут; снять сниму снимет снимем снимут; нанять найму наймет; понять пойму поймет поймут
начать начну начнет начнем начнут; умереть умру умрет умер умерла умерли; привезти привез привезла привезли привезу; отвезти отвез отвезла отвезли отвезу
принести принес принесла принесли принесу; перевести перевел перевела перевели переведу; провести провел провела провели проведу
встретить встречу; отправить отправлю; поставить поставлю; оставить оставлю; готовить готовлю; приготовить приготовлю; любить люблю
ребенок ребенка ребенку ребенком ребенке дети детей детям детьми детях; человек люди людей людям людьми людях
день дня дню днем дне дни дней дням днями днях; отец отца отцу отцом отце; брат братья братьев братьям братьями братьях
сын сыновья сыновей сыновьям; друг друзья друзей друзьям друзьями друзьях; сестра сестер; дочь дочери дочерью дочерей дочерям
мать матери матерью матерей; время времени временем времена времен; стул стулья стульев; лист листья листьев
"""
_GOING = "по на при у вы за подо пере до про со обо разо ото во взо"
"""What stands before "идти": найти, нашёл, найду; прийти, пришла, придёт."""


@cache
def bases() -> dict[str, str]:
    """Each stem of an irregular form → the stem of its word. No value is a key: a form leads to its word in one step."""
    english, russian = EnglishStemmer().stemWord, RussianStemmer().stemWord
    return {
        **_led(_groups(_VERBS + _NOUNS), english),
        **_led([*_groups(_RUSSIAN), *map(_going, _GOING.split())], russian),
    }


@cache
def past_forms() -> frozenset[str]:
    """English verb forms that tell of the past without "-ed": "met", "taken"."""
    return frozenset(form for _, *forms in _groups(_VERBS) for form in forms)


def _led(groups: Iterable[list[str]], stem: Callable[[str], str]) -> dict[str, str]:
    return {stem(form): stem(base) for base, *forms in groups for form in forms if stem(form) != stem(base)}


def _groups(table: str) -> list[list[str]]:
    return [group.split() for line in table.strip().splitlines() for group in line.split(";") if group.split()]


def _going(prefix: str) -> list[str]:
    begin = "при" if prefix == "при" else f"{prefix}й"
    past = (prefix + end for end in ("шел", "шла", "шло", "шли"))
    return [
        "прийти" if prefix == "при" else f"{begin}ти",
        *past,
        *(begin + end for end in ("ду", "дешь", "дет", "дем", "дете", "дут")),
    ]
