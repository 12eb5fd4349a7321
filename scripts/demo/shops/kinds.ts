import { news } from "./news.ts";
import { rates } from "./rates.ts";
import type { ShopKind } from "./shop.ts";
import { weather } from "./weather.ts";
import { words } from "./words.ts";

/** One on each adapter; the order is that of the story. */
export const kinds: readonly ShopKind[] = [news, weather, words, rates];
