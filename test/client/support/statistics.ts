// Tests whether two groups of observations can be told apart. Each states its false alarm rate, which does not depend on
// the machine: the groups are drawn at random, so under the null hypothesis every assignment is equally likely.

/** Labels for n observations, half of them true, in random order. */
export function randomHalves(n: number, random: () => number): boolean[] {
  const labels = Array.from({ length: n }, (_, i) => i < n / 2);
  for (let i = n - 1; i > 0; i -= 1) {
    const j = Math.floor(random() * (i + 1));
    [labels[i], labels[j]] = [labels[j]!, labels[i]!];
  }
  return labels;
}

/**
 * The largest difference between the groups' frequencies of a set bit, over all bit positions. With m observations in
 * each group, Hoeffding's inequality bounds the probability that one position exceeds t by 2 exp(-m t²).
 */
export function largestBitDifference(rows: readonly Uint8Array[], labels: readonly boolean[]): number {
  const bits = rows[0]!.length * 8;
  const differences = new Float64Array(bits);
  const sizes = { yes: labels.filter(Boolean).length, no: labels.filter((label) => !label).length };
  for (const [row, bytes] of rows.entries())
    for (let bit = 0; bit < bits; bit += 1)
      if ((bytes[bit >> 3]! >> (bit & 7)) & 1) differences[bit]! += labels[row] ? 1 / sizes.yes : -1 / sizes.no;
  return differences.reduce((largest, difference) => Math.max(largest, Math.abs(difference)), 0);
}

/**
 * The Mann-Whitney statistic as a standard score: how often a value of one group exceeds a value of the other. Ties
 * count half. With hundreds of observations it is normal under the null hypothesis.
 */
export function rankScore(values: readonly number[], labels: readonly boolean[]): number {
  const sorted = values.map((value, i) => ({ value, label: labels[i]! })).sort((a, b) => a.value - b.value);
  const [m, n] = [labels.filter(Boolean).length, labels.filter((label) => !label).length];
  let rankSum = 0;
  for (let i = 0; i < sorted.length; ) {
    let end = i;
    while (end < sorted.length && sorted[end]!.value === sorted[i]!.value) end += 1;
    // All equal values have the mean of their ranks.
    for (let k = i; k < end; k += 1) if (sorted[k]!.label) rankSum += (i + 1 + end) / 2;
    i = end;
  }
  const u = rankSum - (m * (m + 1)) / 2;
  return (u - (m * n) / 2) / Math.sqrt((m * n * (m + n + 1)) / 12);
}
