"""Whether a text concerns the body: what is eaten, drunk, swallowed or done to it."""

from __future__ import annotations

import re

from openclaw_neuralstream.patterns import lazy

_BODY = lazy(
    r"\b(?:eat(?:s|en|ing|ery)?|ate|foods?|feed|cook(?:s|ed|ing|book)?|bak(?:e|es|ed|ing|ery)|recipes?|meals?|menus?|dish(?:es)?|dinners?|lunch(?:es)?|breakfasts?|brunch|suppers?|"
    r"snacks?|appetizers?|starters?|side dish\w*|stews?|roasts?|grill\w*|paella|risotto|ramen|tacos?|kebabs?|satay|tapas|dumplings?|pancakes?|desserts?|cakes?|cookies?|chocolates?|candy|sweets|ingredients?|grocer\w+|restaurants?|caf[eé]s?|takeaway|takeout|barbecue|bbq|picnics?|potluck|(?<!-)part(?:y|ies)|"
    r"hungry|tastings?|cuisine|chef|waiter|taste|tasty|drinks?|coffee|tea|wine|beer|pizza|sushi|salads?|soups?|nuts?|peanuts?|milk|fish|meat|diet\w*|nutrition\w*|vegan|vegetarian|"
    r"allerg\w*|doctors?|dentists?|hospitals?|clinics?|medic\w+|drugs?|pharmac\w+|pills?|prescri\w+|surger\w+|vaccin\w+|symptoms?|rash|ill(?:ness)?|sick|health\w*|insulin|"
    r"sandwich\w*|toasts?|bread|cheese\w*|butter|eggs?|pasta|noodles|rice|burgers?|curry|ice.?creams?|smoothies?|juices?|fruits?|seafood|shellfish|shrimps?|prawns?|buffet|catering|gluten|"
    r"pains?|painkill\w+|hurts?|\w*aches?|fevers?|cough\w*|infect\w+|antibiotic\w*|penicillin|aspirin|ibuprofen|paracetamol|treatments?|therap\w+|inject\w+|dos(?:e|es|age)|"
    r"wounds?|burns?|bleed\w*|stung|stings?|bites?|bitten|bees?|wasps?|pollen|ointments?|anaesthe\w+|anesthe\w+|"
    r"emergenc\w+|travel\w*|flights?|hotels?|trips?|hike|hiking|workouts?|sports?)\b|"
    r"\b(?:ед[аыуе]\b|есть|ем\b|ешь|съе\w+|поесть|кушать|корм\w+|готовить|готов(?:лю|им|ишь|ят)\b|приготов\w+|испе\w+|выпеч\w+|рецепт\w*|блюд\w*|меню|ужин\w*|обед\w*|завтрак\w*|перекус\w*|закус\w+|угост\w+|угощ\w+|плов\w*|борщ\w*|паэль\w*|паст[ауые]\b|кухн[яюи]\b|пельмен\w*|блин(?:ы|ов|чик\w*)\b|съестн\w+|десерт\w*|"
    r"торт\w*|печень\w*|шоколад\w*|конфет\w*|сладк\w*|ингредиент\w*|продукт\w*|ресторан\w*|кафе|шашлык\w*|пикник\w*|вечеринк\w*|голод\w*|вкус\w*|напит\w*|пить|кофе|ча[йюея]\b|"
    r"вино|пив\w+|пицц\w*|суши|салат\w*|суп(?!ер|руг)\w*|орех\w*|арахис\w*|молок\w*|рыб\w*|мяс\w*|диет\w*|питани\w*|аллерг\w*|врач\w*|стоматолог\w*|больниц\w*|клиник\w*|лекарств\w*|"
    r"таблет\w*|аптек\w*|операци\w*|привив\w*|симптом\w*|сыпь|боле[юлнзв]\w*|бол(?:ь|и|ит|ят|ью|ей)\b|температур\w*|каш(?:ель|ля|лем|ля\w+)|простуд\w*|"
    r"инфекци\w*|антибиотик\w*|пенициллин\w*|аспирин\w*|ибупрофен\w*|парацетамол\w*|лечени\w*|лечить\w*|укол\w*|укус\w*|ужали\w*|пч[её]л\w*|ос[ауы]\b|пыльц\w*|мазь|мази|рана|раны|рану|ожог\w*|наркоз\w*|"
    r"бутерброд\w*|хлеб\w*|сыр\b|сыр[аоу]\w*|масл\w*|яйц\w*|макарон\w*|рис\b|бургер\w*|морож\w*|фрукт\w*|морепродукт\w*|креветк\w*|здоров\w*|инсулин\w*|поездк\w*|путешеств\w*|рейс\w*|отел\w*|поход\w*|трениров\w*)|"
    r"吃|喝|饭|饮|厨|馆子|饺|粥|糕|火锅|寿司|披萨|咖喱|菜|餐|食|烹|烤|煮|汤|蛋糕|零食|甜点|点心|饼干|巧克力|糖果|配料|超市|聚会|派对|野餐|烧烤|饿|口味|味道|咖啡|茶|酒|肉|鱼|牛奶|花生|坚果|素食|"
    r"疼|痛|烧伤|发烧|发热|咳|感冒|感染|抗生素|青霉素|阿司匹林|治疗|治病|剂量|打针|注射|伤口|流血|蜂|蜇|叮|花粉|麻醉|面包|奶酪|芝士|黄油|蛋|面条|米饭|水果|海鲜|虾|蟹|果汁|冰淇淋|外卖|"
    r"过敏|医|药|诊|手术|疫苗|症状|皮疹|病|健康|胰岛素|急救|旅行|旅游|航班|酒店|徒步|健身|运动",
    re.IGNORECASE,
)
"""Widely: to be told of an allergy once too often costs a line."""


def concerns_body(text: str) -> bool:
    """Whether food, drink, health, travel or sport is spoken of."""
    return bool(_BODY.search(text))
