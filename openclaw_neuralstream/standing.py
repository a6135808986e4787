"""What the owner asked for once and for all: instructions and preferences that hold, in their newest version."""

from __future__ import annotations

import math
import re
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from openclaw_neuralstream.formats import instant
from openclaw_neuralstream.lexicon import content_terms, names_condition
from openclaw_neuralstream.model import OWNER, Gem, Kind, Origin, Scope
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.store.truth import Truth

KINDS = (Kind.INSTRUCTION, Kind.PREFERENCE)
_EVENTS = 500
_MOST = 2_000  # of each kind that are looked at when the process starts
_SAME = 0.8  # share of common terms at which two say the same: the newer one does
_ANSWERS = 100  # scopes whose answer is kept
_PATIENCE = 0.1  # seconds that a question waits while another thread reads the gems


_BODY = lazy(
    r"\b(?:eat(?:s|en|ing|ery)?|ate|foods?|feed|cook(?:s|ed|ing|book)?|bak(?:e|es|ed|ing|ery)|recipes?|meals?|menus?|dish(?:es)?|dinners?|lunch(?:es)?|breakfasts?|brunch|suppers?|"
    r"snacks?|desserts?|cakes?|cookies?|chocolates?|candy|sweets|ingredients?|grocer\w+|restaurants?|caf[eé]s?|takeaway|takeout|barbecue|bbq|picnics?|potluck|(?<!-)part(?:y|ies)|"
    r"hungry|taste|tasty|drinks?|coffee|tea|wine|beer|pizza|sushi|salads?|soups?|nuts?|peanuts?|milk|fish|meat|diet\w*|nutrition\w*|vegan|vegetarian|"
    r"allerg\w*|doctors?|dentists?|hospitals?|clinics?|medic\w+|drugs?|pharmac\w+|pills?|prescri\w+|surger\w+|vaccin\w+|symptoms?|rash|ill(?:ness)?|sick|health\w*|insulin|"
    r"sandwich\w*|toasts?|bread|cheese\w*|butter|eggs?|pasta|noodles|rice|burgers?|curry|ice.?creams?|smoothies?|juices?|fruits?|seafood|shellfish|shrimps?|prawns?|buffet|catering|gluten|"
    r"pains?|painkill\w+|hurts?|\w*aches?|fevers?|cough\w*|infect\w+|antibiotic\w*|penicillin|aspirin|ibuprofen|paracetamol|treatments?|therap\w+|inject\w+|dos(?:e|es|age)|"
    r"wounds?|burns?|bleed\w*|stung|stings?|bites?|bitten|bees?|wasps?|pollen|ointments?|anaesthe\w+|anesthe\w+|"
    r"emergenc\w+|travel\w*|flights?|hotels?|trips?|hike|hiking|workouts?|sports?)\b|"
    r"\b(?:ед[аыуе]\b|есть|ем\b|ешь|съе\w+|поесть|кушать|корм\w+|готовить|приготов\w+|испе\w+|выпеч\w+|рецепт\w*|блюд\w*|меню|ужин\w*|обед\w*|завтрак\w*|перекус\w*|десерт\w*|"
    r"торт\w*|печень\w*|шоколад\w*|конфет\w*|сладк\w*|ингредиент\w*|продукт\w*|ресторан\w*|кафе|шашлык\w*|пикник\w*|вечеринк\w*|голод\w*|вкус\w*|напит\w*|пить|кофе|ча[йюея]\b|"
    r"вино|пив\w+|пицц\w*|суши|салат\w*|суп\w*|орех\w*|арахис\w*|молок\w*|рыб\w*|мяс\w*|диет\w*|питани\w*|аллерг\w*|врач\w*|стоматолог\w*|больниц\w*|клиник\w*|лекарств\w*|"
    r"таблет\w*|аптек\w*|операци\w*|привив\w*|симптом\w*|сыпь|боле[юлнзв]\w*|бол(?:ь|и|ит|ят|ью|ей)\b|температур\w*|каш(?:ель|ля|лем|ля\w+)|простуд\w*|"
    r"инфекци\w*|антибиотик\w*|пенициллин\w*|аспирин\w*|ибупрофен\w*|парацетамол\w*|лечени\w*|лечить\w*|укол\w*|укус\w*|ужали\w*|пч[её]л\w*|ос[ауы]\b|пыльц\w*|мазь|мази|рана|раны|рану|ожог\w*|наркоз\w*|"
    r"бутерброд\w*|хлеб\w*|сыр\b|сыр[аоу]\w*|масл\w*|яйц\w*|макарон\w*|рис\b|бургер\w*|морож\w*|фрукт\w*|морепродукт\w*|креветк\w*|здоров\w*|инсулин\w*|поездк\w*|путешеств\w*|рейс\w*|отел\w*|поход\w*|трениров\w*)|"
    r"吃|喝|饭|菜|餐|食|烹|烤|煮|汤|蛋糕|零食|甜点|点心|饼干|巧克力|糖果|配料|超市|聚会|派对|野餐|烧烤|饿|口味|味道|咖啡|茶|酒|肉|鱼|牛奶|花生|坚果|素食|"
    r"疼|痛|烧伤|发烧|发热|咳|感冒|感染|抗生素|青霉素|阿司匹林|治疗|治病|剂量|打针|注射|伤口|流血|蜂|蜇|叮|花粉|麻醉|面包|奶酪|芝士|黄油|蛋|面条|米饭|水果|海鲜|虾|蟹|果汁|冰淇淋|外卖|"
    r"过敏|医|药|诊|手术|疫苗|症状|皮疹|病|健康|胰岛素|急救|旅行|旅游|航班|酒店|徒步|健身|运动",
    re.IGNORECASE,
)
"""What concerns the body, widely: to be told of an allergy once too often costs a line."""


@dataclass(frozen=True, slots=True)
class _Held:
    """A gem that stands, and its content terms."""

    gem: Gem
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Answer:
    """What stands for a scope, at any moment after `after` and until `until`: then one expires. None = for ever."""

    gems: list[Gem]
    after: datetime | None
    until: datetime | None

    def holds(self, now: datetime) -> bool:
        at = instant(now)
        return (self.after is None or instant(self.after) < at) and (self.until is None or at <= instant(self.until))


class Standing:
    """Follows the gems by the numbers of their events, so that asking before each turn costs next to nothing.

    May be asked from any thread. What a scope was answered is kept until a gem that stands changes, or expires.
    """

    def __init__(self, truth: Truth) -> None:
        self._truth = truth
        self._held: dict[str, _Held] = {}
        self._answers: dict[Scope, _Answer] = {}
        self._seen: int | None = None
        self._following = threading.Lock()

    def warm(self) -> None:
        """Read the gems that stand now: the first question need not."""
        with self._following:
            self._follow()

    def of(self, scope: Scope, now: datetime) -> list[Gem]:
        """What stands for this scope, instructions first, the weightier and then the newer ones first.

        A reply may wait for it: while another thread reads the gems for the first time nothing stands yet, and while it
        reads what is new what stood before it does.
        """
        if not self._following.acquire(timeout=_PATIENCE):
            return [] if self._seen is None else list(_answer(self._held.values(), scope, now).gems)
        try:
            self._follow()
            answer = self._answers.get(scope)
            if answer is None or not answer.holds(now):
                answer = _answer(self._held.values(), scope, now)
                if len(self._answers) >= _ANSWERS:
                    self._answers.clear()
                self._answers[scope] = answer
            return list(answer.gems)
        finally:
            self._following.release()

    def _follow(self) -> None:
        if self._seen is None:
            seen = self._truth.last_event()
            for kind in KINDS:
                self._take(self._truth.gems(None, kind=kind, limit=_MOST))
            self._seen = seen
        while events := self._truth.events(self._seen, _EVENTS):
            ids = list(dict.fromkeys(event.gem_id for event in events))
            self._take(self._truth.gems(None, gem_ids=ids, limit=len(ids)), instead_of=ids)
            self._seen = events[-1].seq

    def _take(self, gems: Sequence[Gem], instead_of: Collection[str] = ()) -> None:
        """See these gems, and no more those that they are read anew for; in one step for who asks meanwhile."""
        fresh = {gem.gem_id: _Held(gem, frozenset(content_terms(gem.content))) for gem in gems if _stands(gem)}
        if fresh or any(gem_id in self._held for gem_id in instead_of):
            gone = frozenset(instead_of)
            self._held = {gem_id: held for gem_id, held in self._held.items() if gem_id not in gone} | fresh
            self._answers.clear()


def concerns(gem: Gem, asked: str) -> bool:
    """Whether what stands is for this question: a wish is for all of them, an allergy for those that concern the body.

    An order ("never suggest nuts, I am allergic") is a wish.
    """
    condition = gem.kind is Kind.PREFERENCE and names_condition(gem.content)
    return not condition or bool(_BODY.search(asked))


def _stands(gem: Gem) -> bool:
    """Only what the owner said himself: what others or the agent said never holds by itself."""
    return gem.kind in KINDS and gem.origin is Origin.OWNER and gem.speaker == OWNER and not gem.superseded_by


def _answer(gems: Iterable[_Held], scope: Scope, now: datetime) -> _Answer:
    seen = [item for item in gems if _sees(scope, item.gem.scope)]
    over = [item.gem.valid_to for item in seen if item.gem.valid_to and _over(item.gem, now)]
    held = [item for item in seen if not _over(item.gem, now)]
    ends = [item.gem.valid_to for item in held if item.gem.valid_to]
    held.sort(key=lambda item: (instant(item.gem.created_at), item.gem.gem_id), reverse=True)
    best = sorted(_newest(held), key=lambda gem: (KINDS.index(gem.kind), -gem.importance))
    return _Answer(best, max(over, key=instant, default=None), min(ends, key=instant, default=None))


def _over(gem: Gem, now: datetime) -> bool:
    return gem.valid_to is not None and instant(gem.valid_to) < instant(now)


def _sees(scope: Scope, of: Scope) -> bool:
    same = (scope.agent, scope.user) == (of.agent, of.user)
    return same and (not scope.project or of.project in ("", scope.project))


def _newest(held: Sequence[_Held]) -> list[Gem]:
    """Without those that a newer one says again. held: the newest first.

    Two that say the same share one of the few rarest terms of each, so only such pairs are compared (prefix filtering,
    Chaudhuri, Ganti and Kaushik 2006): a thousand preferences cost milliseconds, not seconds.
    """
    frequency = Counter(term for item in held for term in item.terms)
    kept: list[_Held] = []
    by_term: dict[str, list[_Held]] = {}
    for item in held:
        common = math.ceil(_SAME * len(item.terms) - 1e-9)
        rarest = sorted(item.terms, key=lambda term: (frequency[term], term))[: len(item.terms) - common + 1]
        if any(_same(item.terms, other.terms) for term in rarest for other in by_term.get(term, ())):
            continue
        kept.append(item)
        for term in rarest:
            by_term.setdefault(term, []).append(item)
    return [item.gem for item in kept]


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _SAME * len(one | other)
