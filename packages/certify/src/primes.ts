import { ORDER } from "./curve.ts";
import { P, power } from "./field.ts";

/** Shows that n is prime: `witness` has order n - 1 modulo n, and `factors` are all primes that divide n - 1. */
interface Pratt {
  readonly n: bigint;
  readonly witness: bigint;
  readonly factors: readonly bigint[];
}

const MAX_TRIAL = 2n ** 34n;

/** Each entry's factors are smaller than 2^34 or have an entry below it. */
export const PRATT: readonly Pratt[] = [
  {
    n: P,
    witness: 5n,
    factors: [2n, 3n, 13n, 29n, 983n, 11003n, 237073n, 405928799n, 1670836401704629n, 13818364434197438864469338081n],
  },
  { n: 1670836401704629n, witness: 2n, factors: [2n, 3n, 5156902474397n] },
  { n: 5156902474397n, witness: 2n, factors: [2n, 107n, 12048837557n] },
  { n: 13818364434197438864469338081n, witness: 3n, factors: [2n, 5n, 823n, 1593227n, 65865678001877903n] },
  { n: 65865678001877903n, witness: 5n, factors: [2n, 83n, 379n, 1637n, 639533339n] },
  {
    n: ORDER,
    witness: 31n,
    factors: [2n, 3n, 5n, 11n, 17n, 967n, 32151195060611136810608359n, 178259130663561045147472537592047227885001n],
  },
  { n: 32151195060611136810608359n, witness: 3n, factors: [2n, 3n, 4139n, 431548080059745198929n] },
  { n: 431548080059745198929n, witness: 3n, factors: [2n, 7n, 19n, 202795150404015601n] },
  { n: 202795150404015601n, witness: 7n, factors: [2n, 3n, 5n, 19n, 349n, 25485742523n] },
  { n: 25485742523n, witness: 2n, factors: [2n, 43189n, 295049n] },
  {
    n: 178259130663561045147472537592047227885001n,
    witness: 14n,
    factors: [2n, 3n, 5n, 6323n, 336157n, 1863691091902891838383581623n],
  },
  { n: 1863691091902891838383581623n, witness: 5n, factors: [2n, 33409n, 27892051421815855583579n] },
  { n: 27892051421815855583579n, witness: 2n, factors: [2n, 23n, 521n, 27743n, 513749n, 81654569n] },
];

function isSmallPrime(n: bigint): boolean {
  if (n < 2n || n >= MAX_TRIAL) return false;
  const value = Number(n);
  for (let divisor = 2; divisor * divisor <= value; divisor++) if (value % divisor === 0) return false;
  return true;
}

/** The numbers that a list of Pratt certificates shows to be prime. Throws an Error that names a certificate that fails. */
export function provenPrimes(certificates: readonly Pratt[]): Set<bigint> {
  const primes = new Set<bigint>();
  for (const { n, witness, factors } of certificates.toReversed()) {
    const unproven = factors.find((factor) => !primes.has(factor) && !isSmallPrime(factor));
    if (unproven !== undefined) throw new Error(`${unproven} is not shown to be prime`);
    let rest = n - 1n;
    for (const factor of factors) while (rest > 1n && rest % factor === 0n) rest /= factor;
    const complete = rest === 1n && power(witness, n - 1n, n) === 1n;
    if (!complete || factors.some((factor) => power(witness, (n - 1n) / factor, n) === 1n))
      throw new Error(`the certificate does not show that ${n} is prime`);
    primes.add(n);
  }
  return primes;
}

/** Throws an Error unless the field's characteristic and the subgroup's order are proven to be prime. */
export function assertPrimes(): void {
  const primes = provenPrimes(PRATT);
  for (const n of [P, ORDER]) if (!primes.has(n)) throw new Error(`${n} is not proven to be prime`);
}
