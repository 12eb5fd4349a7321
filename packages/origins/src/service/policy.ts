// Origins as a condition of /verify.
import type { AdmittedPayment, ServiceCore } from "@sotto/server";
import { decodeOriginHeader, type ShownOrigin } from "../core/header.ts";
import type { HeadWatch } from "../heads/watch.ts";
import { OriginServiceError } from "./errors.ts";
import { isRequired, type ServiceSet } from "./sets.ts";

/** A set with what is known of its heads. */
export interface WatchedSet {
  readonly asked: ServiceSet;
  readonly watch: HeadWatch;
}

/** Checks the origins of payments to recipients that require them. */
export class OriginPolicy {
  readonly #sets: readonly WatchedSet[];
  readonly #verify: ServiceCore["verifyProof"];

  constructor(sets: readonly WatchedSet[], verify: ServiceCore["verifyProof"]) {
    this.#sets = sets;
    this.#verify = verify;
  }

  /**
   * @param shown what the payer shows, as the header X-Payment-Origin
   * @returns whether the payment had to show an origin
   * @throws OriginServiceError ORIGIN_REQUIRED, ORIGIN_REFUSED, ORIGIN_UNCHECKED
   */
  async admit(payment: AdmittedPayment, shown: string | undefined): Promise<boolean> {
    const required = this.#sets.filter(({ asked }) => isRequired(asked, payment));
    if (required.length === 0) return false;
    if (shown === undefined)
      throw new OriginServiceError(
        "ORIGIN_REQUIRED",
        `payments to this recipient must show the set ${required.map(textOf).join(" and the set ")} in the field origin`,
      );
    const origins = parse(shown);
    const checked = new Map<ShownOrigin, Promise<boolean>>();
    const check = (origin: ShownOrigin) => {
      const known = checked.get(origin) ?? this.#isValid(origin, payment);
      checked.set(origin, known);
      return known;
    };
    for (const set of required) await assertShown(set, origins, payment, check);
    return true;
  }

  #isValid({ maskRoot, proof }: ShownOrigin, { nullifier, client }: AdmittedPayment): Promise<boolean> {
    return this.#verify("origin", proof, [maskRoot, nullifier].map(String), client);
  }
}

async function assertShown(
  set: WatchedSet,
  origins: readonly ShownOrigin[],
  { timestamp }: AdmittedPayment,
  check: (origin: ShownOrigin) => Promise<boolean>,
): Promise<void> {
  const { watch } = set;
  const find = () => origins.filter(({ maskRoot }) => watch.has(maskRoot));
  if (find().length === 0) await watch.seek(origins[0]!.maskRoot);
  if (watch.newest === undefined)
    throw new OriginServiceError("ORIGIN_UNCHECKED", `this service has read no head of the set ${textOf(set)} yet`);
  const known = find();
  if (known.length === 0) throw refused(set, "no root that was shown is that of one of its heads");
  const fresh = known.filter(({ maskRoot }) => watch.accepts(maskRoot, timestamp));
  if (fresh.length === 0)
    throw refused(set, `its root was replaced more than ${set.asked.maxAgeMs / 1000} s before the payment`);
  for (const origin of fresh) if (await check(origin)) return;
  throw refused(set, "the proof is not valid for this payment");
}

const textOf = ({ asked: { curator, key, name } }: WatchedSet): string => `${name} of ${key} at ${curator}`;

const refused = (set: WatchedSet, why: string) =>
  new OriginServiceError("ORIGIN_REFUSED", `the origin does not show the set ${textOf(set)}: ${why}`);

function parse(shown: string): readonly ShownOrigin[] {
  try {
    return decodeOriginHeader(shown);
  } catch (cause) {
    throw new OriginServiceError("ORIGIN_REFUSED", `the field origin cannot be read: ${(cause as Error).message}`);
  }
}
