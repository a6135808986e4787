"""Stop and question words of English, Russian and Chinese: what a question is made of, not what it is about."""

from __future__ import annotations

import re
from functools import cache

from snowballstemmer.english_stemmer import EnglishStemmer
from snowballstemmer.russian_stemmer import RussianStemmer

from openclaw_neuralstream.patterns import lazy

_ENGLISH = """
a about above after again against all almost also although am an and any anybody anyone anything are aren't around as
at be because been before being below between both but by can can't cannot could couldn't did didn't do does doesn't
doing don't done down during each either else ever every everybody everyone everything few for from further get gets
getting go goes going gonna got had hadn't has hasn't have haven't having he he'd he'll he's her here here's hers
herself hey hi hello him himself his how how's however i i'd i'll i'm i've if in into is isn't it it'd it'll it's its
itself just kind let let's like likely made make makes many may maybe me might mine more most much must mustn't my
myself neither no nor not of off oh ok okay on once one ones only or other others our ours ourselves out over own
perhaps please quite rather really same shall shan't she she'd she'll she's should shouldn't since so some somebody
someone something still such sure than thank thanks that that's the their theirs them themselves then there there's
these they they'd they'll they're they've thing things this those though through to too toward towards under until
unless up upon us very was wasn't way we we'd we'll we're we've well were weren't what what's whatever when when's
where where's whether which while who who's whoever whom whose why why's will with within without won't would wouldn't
yeah yep yes yet you you'd you'll you're you've your yours yourself yourselves tell told say said says remember remind
recall know mean want wanted currently according based mention mentioned dont didnt doesnt isnt im ive id whats thats
cant wont
"""
_RUSSIAN = """
а без более больше будем будет будете будешь буду будут бы был была были было быть в вам вами вас ваш ваша ваше ваши
вдруг ведь весь во вообще вот все всегда всего всем всеми всему всех всею всё вся всю вы где говори говорил говорила
да давай даже для до его ее её ей ему если есть еще ещё ею же за зачем здесь и из или им ими иногда их к каждый как
какая какие каким каких какого какое какой каком какому какую ко когда конечно которая которого которое которой
которую которые который которых кто кого кому кем куда ли либо лишь лучше мы меня мне мной мною много можно мог могла
могли может можешь мой моя моё мое моего моей моему моих мои мою моим на над надо наконец нам нами нас наш наша наше
наши не него нее неё ней нельзя нем нему нет нею ни нибудь никогда ним ними них ничего но ну о об один одна одно
однако около он она они оно опять от отсюда откуда очень перед по под пожалуйста помнишь помни напомни после потом
потому почему почти при про просто раз разве расскажи с сам сама сами само свое своего своей свои своих свой свою своя
себе себя сейчас скажи сказал сказала сколько со совсем так такая такие такое такой там твой твоя твоё твое твоего
твоей твои тебе тебя тем теперь то тобой тогда того тоже той только том тому тот тою ту тут ты у уж уже хоть хотя чего
чей чья чьё чем через что чтоб чтобы чтото чём чуть эта эти этим этих это этого этой этом этому этот эту я привет
спасибо ок ладно
"""
_CHINESE = """
什么 怎么 怎样 为什 哪里 哪个 哪些 哪儿 哪种 哪位 何时 何地 谁的 多少 几个 几点 几次 是否 有没 没有
是不 不是 可以 可能 能不 能否 要不 会不 请问 告诉 记得 还记 知道 觉得 认为 我们 你们 他们 她们 它们
咱们 大家 自己 这个 那个 这些 那些 这里 那里 这样 那样 这么 那么 怎麼 什麼 因为 所以 但是 可是 不过
而且 并且 或者 还是 如果 虽然 然后 以及 关于 对于 由于 为了 除了 根据 按照 时候 之前 之后 以前 以后
现在 已经 正在 一个 一些 一下 一样 一直 一定 非常 很多 比较 特别 真的 其实 只是 就是 都是 也是 还有
应该 需要 想要 帮我 给我 让我 请你 你好 谢谢 好的 是的 当然 吗呢 です ます した して いる ある こと
もの これ それ あれ ここ そこ どこ だれ 何時 なに いつ どう から まで ので のは には では とは たち
ない
"""
_PARTICLES = (
    "的了吗呢吧啊呀嘛哦哈嗯么着们是我你您他她它这那哪谁和与及在也就都还又很不没有把被让给从到对为之其此而且或但并以"
)

CJK_PARTICLES = frozenset(_PARTICLES)
"""Characters that are grammar more often than content; a bigram with one of them says little."""

CJK_STOP = frozenset(_CHINESE.split()) | CJK_PARTICLES | frozenset("一个人说会要能去来好想可什怎几多少时候")

STOP_WORDS = frozenset(_ENGLISH.split()) | frozenset(_RUSSIAN.split())
"""English and Russian words as they are written, lower-cased."""


@cache
def stop_terms() -> frozenset[str]:
    """The same words and their stems, as `lexicon.terms` gives them."""
    english, russian = EnglishStemmer(), RussianStemmer()
    stems = {english.stemWord(word) for word in _ENGLISH.split()}
    stems |= {russian.stemWord(word.replace("ё", "е")) for word in _RUSSIAN.split()}
    return STOP_WORDS | frozenset(stems)


FIRST_PERSON = lazy(
    r"\b(?:i|i'm|i've|i'll|i'd|me|my|mine|myself|we|we're|we've|our|ours|us"
    r"|я|меня|мне|мной|мой|моя|моё|мое|мои|моего|моей|моему|моих|мою|мы|нас|нам|нами|наш|наша|наше|наши)\b|[我咱]",
    re.IGNORECASE,
)
SECOND_PERSON = lazy(
    r"\b(?:you|you're|you've|you'll|you'd|your|yours|yourself"
    r"|ты|тебя|тебе|тобой|твой|твоя|твоё|твое|твои|твоего|твоей|твою|вы|вас|вам|вами|ваш|ваша|ваше|ваши)\b|[你您]",
    re.IGNORECASE,
)
