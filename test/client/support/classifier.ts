// A classifier that finds any information about which of two groups an observation belongs to.
/** Random numbers from 0 to 1, without 1: the same seed gives the same ones. Mulberry32, because a forest draws millions. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The numbers that describe one observation. */
export type Features = readonly number[];

type Tree = boolean | { readonly feature: number; readonly threshold: number; readonly low: Tree; readonly high: Tree };

interface Example {
  readonly features: Features;
  readonly label: boolean;
}

const [TREES, DEPTH, MIN_EXAMPLES, SPLITS] = [41, 6, 8, 12];

/**
 * Learns from one half of the observations, drawn at random, and tells the labels of the other half.
 * @param labels drawn independently of everything else @returns the share of labels that it told correctly
 */
export function accuracyOf(rows: readonly Features[], labels: readonly boolean[], random: () => number): number {
  const examples = rows.map((features, i) => ({ features, label: labels[i]! }));
  for (let i = examples.length - 1; i > 0; i -= 1) {
    const j = Math.floor(random() * (i + 1));
    [examples[i], examples[j]] = [examples[j]!, examples[i]!];
  }
  const known = examples.slice(0, examples.length / 2);
  const asked = examples.slice(examples.length / 2);
  const trees = Array.from({ length: TREES }, () =>
    grow(
      known.map(() => pick(known, random)),
      DEPTH,
      random,
    ),
  );
  const told = ({ features }: Example) => trees.filter((tree) => follow(tree, features)).length > TREES / 2;
  return asked.filter((example) => told(example) === example.label).length / asked.length;
}

/** A tree whose splits are the best of a few random ones. */
function grow(examples: readonly Example[], depth: number, random: () => number): Tree {
  const yes = examples.filter(({ label }) => label).length;
  const majority = 2 * yes > examples.length;
  if (depth === 0 || examples.length < MIN_EXAMPLES || yes === 0 || yes === examples.length) return majority;
  let best: { feature: number; threshold: number; low: Example[]; high: Example[]; impurity: number } | undefined;
  for (let i = 0; i < SPLITS; i += 1) {
    const feature = Math.floor(random() * examples[0]!.features.length);
    const threshold = pick(examples, random).features[feature]!;
    const [low, high]: [Example[], Example[]] = [[], []];
    for (const example of examples) (example.features[feature]! < threshold ? low : high).push(example);
    if (low.length === 0) continue;
    const impurity = [low, high].reduce((sum, side) => sum + impurityOf(side), 0);
    if (best === undefined || impurity < best.impurity) best = { feature, threshold, low, high, impurity };
  }
  if (best === undefined) return majority;
  const { feature, threshold, low, high } = best;
  return { feature, threshold, low: grow(low, depth - 1, random), high: grow(high, depth - 1, random) };
}

const pick = <T>(values: readonly T[], random: () => number): T => values[Math.floor(random() * values.length)]!;

function impurityOf(examples: readonly Example[]): number {
  const yes = examples.filter(({ label }) => label).length;
  return (yes * (examples.length - yes)) / examples.length;
}

function follow(tree: Tree, features: Features): boolean {
  let at = tree;
  while (typeof at === "object") at = features[at.feature]! < at.threshold ? at.low : at.high;
  return at;
}

/**
 * The accuracy that a classifier without any information exceeds with a probability of at most 1e-9, by Hoeffding's inequality:
 * exp(-2 m t²) = 1e-9 for the m labels that it tells.
 */
export const chanceBound = (observations: number): number =>
  0.5 + Math.sqrt(Math.log(1e9) / (2 * Math.floor(observations / 2)));
