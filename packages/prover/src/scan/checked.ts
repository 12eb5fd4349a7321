/** Minimum time between two checks of a kernel, ms: about one result per scan, which costs less than a thousandth of it. */
const CHECK_MS = 1_000;

/** Computes a result for each item. */
type Batch<Item, Extra, Result> = (items: readonly Item[], extra: Extra) => readonly Result[];

/**
 * A kernel's function. In the first call, and then about once a second, one result is compared with `plain`. After a
 * difference, `plain` computes this call and all later ones: the machine or its runtime does not compute what the kernel
 * needs, and a note that a wallet reads wrongly is missing.
 */
export function checked<Item, Extra, Result extends readonly (bigint | null)[]>(
  fast: Batch<Item, Extra, Result>,
  plain: Batch<Item, Extra, Result>,
): Batch<Item, Extra, Result> {
  let isSound = true;
  let next = 0;
  return (items, extra) => {
    if (!isSound) return plain(items, extra);
    const results = fast(items, extra);
    const now = performance.now();
    if (items.length === 0 || now < next) return results;
    next = now + CHECK_MS;
    const index = Math.floor(Math.random() * items.length);
    isSound = String(results[index]) === String(plain([items[index] as Item], extra)[0]);
    return isSound ? results : plain(items, extra);
  };
}
