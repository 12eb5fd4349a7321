/** Maximum length of a word that is compared, in characters. */
const MAX_LENGTH = 40;

/** Damerau-Levenshtein distance: insertions, deletions, replacements and swaps of adjacent characters. */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    const before = rows[i - 1]!;
    for (let j = 1; j <= b.length; j += 1) {
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = swapped ? rows[i - 2]![j - 2]! + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(before[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1), before[j]! + 1, row[j - 1]! + 1, swap));
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}

/** The known word closest to a mistyped one; undefined if none is similar. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > MAX_LENGTH) return undefined;
  const found = known.map((one) => ({ one, far: distance(word, one) })).sort((a, b) => a.far - b.far)[0];
  return found !== undefined && found.far <= Math.max(1, Math.floor(found.one.length / 3)) ? found.one : undefined;
}
