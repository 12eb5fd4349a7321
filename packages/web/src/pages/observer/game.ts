// The game: which of these notes did the payment spend? Contains no I/O and no secrets but the round itself.

/** A random integer from 0 to `bound` - 1, all equally likely. */
export type Random = (bound: number) => number;

/**
 * Uses the browser's generator. It rejects values above the largest multiple of `bound`, which would favour small
 * results.
 */
export const secureRandom: Random = (bound) => {
  const limit = 2 ** 32 - (2 ** 32 % bound);
  const word = new Uint32Array(1);
  do crypto.getRandomValues(word);
  while (word[0]! >= limit);
  return word[0]! % bound;
};

/** Maximum notes in a round: more do not fit on a phone's screen. */
export const MAX_CHOICES = 8;

export interface Round<Payment> {
  readonly payment: Payment;
  /** Leaf indices, in random order. The spent note is one of them. */
  readonly choices: readonly number[];
  /** The spent note's leaf index. */
  readonly spent: number;
}

/** A payment whose spent note is known, and the number of leaves under its root. */
export interface Playable<Payment> {
  readonly payment: Payment;
  readonly spent: number;
  readonly leaves: number;
}

/**
 * Draws a payment, and notes that include the one it spent. The other notes are drawn uniformly from all leaves under
 * the payment's root, and the order of all notes is random.
 * @returns undefined if there is no payment with at least two candidates
 */
export function drawRound<Payment>(payments: readonly Playable<Payment>[], random: Random): Round<Payment> | undefined {
  const playable = payments.filter(({ spent, leaves }) => leaves >= 2 && spent < leaves);
  if (playable.length === 0) return undefined;
  const { payment, spent, leaves } = playable[random(playable.length)]!;
  const size = Math.min(MAX_CHOICES, leaves);
  const drawn = new Set([spent]);
  while (drawn.size < size) drawn.add(random(leaves));
  return { payment, spent, choices: shuffled([...drawn], random) };
}

/** Fisher and Yates: every order is equally likely. */
function shuffled(values: number[], random: Random): number[] {
  for (let i = values.length - 1; i > 0; i -= 1) {
    const j = random(i + 1);
    [values[i], values[j]] = [values[j]!, values[i]!];
  }
  return values;
}

/** The rounds of this tab. */
export interface Score {
  readonly rounds: number;
  readonly hits: number;
  /** Expected number of hits by random guessing: the sum of 1 / choices. */
  readonly chance: number;
}

export const NO_SCORE: Score = { rounds: 0, hits: 0, chance: 0 };

export const scored = ({ rounds, hits, chance }: Score, choices: number, hit: boolean): Score => ({
  rounds: rounds + 1,
  hits: hits + (hit ? 1 : 0),
  chance: chance + 1 / choices,
});

const KEY = "sotto-observer-score";

/** The score of this tab; zero if the stored score is unreadable. */
export function readScore(): Score {
  try {
    const { rounds, hits, chance } = Object(JSON.parse(sessionStorage.getItem(KEY) ?? "{}")) as Record<string, unknown>;
    const valid = [rounds, hits, chance].every((value) => typeof value === "number" && value >= 0);
    return valid ? ({ rounds, hits, chance } as Score) : NO_SCORE;
  } catch {
    return NO_SCORE;
  }
}

export const keepScore = (score: Score): void => sessionStorage.setItem(KEY, JSON.stringify(score));
