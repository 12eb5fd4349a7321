import { baseUrl, parseAddress } from "@sotto/protocol";
import type { AttachmentCore, OpenAttachment, PaymentAttachment, ShownAttachment } from "@sotto/resource-server";
import { codeOf, invalidOption } from "@sotto/resource-server";
import { type AskedSet, ORIGINS_FIELD, parseAskedSets, withDefaults } from "../core/asked.ts";
import { decodeOriginHeader, ORIGIN_HEADER, type ShownOrigin } from "../core/header.ts";
import { HeadWatch } from "../heads/watch.ts";
import { ClaimForwarder } from "./forward.ts";

/** A set whose origins a resource server asks for. */
export interface OriginSetOptions {
  /** Base URL of its curator, which is also told which payments showed the set. */
  readonly curator: string;
  /** The account with whose key the curator signs heads: 20 bytes, hex with 0x. */
  readonly key: string;
  /** Which of the curator's sets it is: 1 to 32 lower-case letters, digits and hyphens. */
  readonly name: string;
  /**
   * How long before a payment a root may have been replaced by a newer one, ms, 1 minute to 30 days: a deposit that the curator
   * refuses can be spent with an origin for that long. Default: an hour.
   */
  readonly maxAgeMs?: number;
  /** Base URLs of mirrors of the set's heads, read beside the curator. Default: none. */
  readonly mirrors?: readonly string[];
}

/** Options of {@link origins}. */
export interface OriginsOptions {
  /** One to four sets. A 402 asks for all of them, and a payer shows those that it can. */
  readonly sets: readonly OriginSetOptions[];
  /** Reads heads and sends claims. Default: the platform's fetch. */
  readonly fetch?: typeof fetch;
}

/** A set that a payer showed for its payment. */
export interface ShownSet {
  /** Base URL of the set's curator. */
  readonly curator: string;
  /** The account with whose key the curator signs, lower case. */
  readonly key: string;
  /** Which of the curator's sets it is: 1 to 32 lower-case letters, digits and hyphens. */
  readonly name: string;
  /** Root of the set's mask tree in which the payment's note was, a field element. */
  readonly root: bigint;
}

/** Maximum mirrors of a set. */
const MAX_MIRRORS = 8;

/** A set with what is known of its heads. */
interface Watched {
  readonly asked: AskedSet;
  readonly watch: HeadWatch;
  readonly claims: ClaimForwarder;
}

/**
 * Asks payers to show that their money descends from deposits that a curator accepts. Handlers see the sets that were shown as
 * `payment.origin`. A payment without an origin is served too: `payment.origin` is empty.
 *
 *     createPaywall({ ...options, attachments: [origins({ sets: [{ curator, key, name: "clean" }] })] });
 * @throws PaywallError INVALID_OPTION
 */
export function origins(options: OriginsOptions): PaymentAttachment {
  const { sets, mirrors, send } = parseOptions(options);
  return {
    name: ORIGINS_FIELD,
    field: "origin",
    headers: [ORIGIN_HEADER],
    circuits: ["origin"],
    open: (core) => new Origins(core, sets, mirrors, send),
  };
}

function parseOptions(options: OriginsOptions) {
  const { sets, fetch: send = (input, init) => fetch(input, init) } = Object(options) as OriginsOptions;
  if (typeof send !== "function") throw invalidOption("origins: fetch must be a function");
  if (!Array.isArray(sets)) throw invalidOption("origins: sets must be a list");
  try {
    const mirrors = sets.map((set) => parseMirrors((Object(set) as OriginSetOptions).mirrors ?? []));
    return { sets: parseAskedSets(sets.map(withDefaults)), mirrors, send };
  } catch (cause) {
    throw invalidOption(`origins: ${(cause as Error).message}`, cause);
  }
}

function parseMirrors(mirrors: readonly string[]): readonly string[] {
  if (!Array.isArray(mirrors) || mirrors.length > MAX_MIRRORS)
    throw new Error(`mirrors must be a list of at most ${MAX_MIRRORS} base URLs`);
  return mirrors.map((mirror) => {
    const url = baseUrl(mirror);
    if (url === undefined) throw new Error("a mirror must be an http(s) URL without query and user");
    return url;
  });
}

class Origins implements OpenAttachment {
  readonly nothing: readonly ShownSet[] = [];
  readonly #core: AttachmentCore;
  readonly #sets: readonly Watched[];

  constructor(
    core: AttachmentCore,
    sets: readonly AskedSet[],
    mirrors: readonly (readonly string[])[],
    send: typeof fetch,
  ) {
    this.#core = core;
    const { deployment, clock, report } = core;
    this.#sets = sets.map((asked, i) => {
      const { curator, key, name, maxAgeMs } = asked;
      const set = { chainId: Number(deployment.chainId), pool: parseAddress(deployment.pool), curator: key, name };
      const onError = (error: unknown) => report({ event: "trouble", reason: codeOf(error), error });
      const urls = [curator, ...mirrors[i]!];
      const watch = new HeadWatch({ set, urls, maxAgeMs, fetch: send, clock, onError });
      watch.start();
      return { asked, watch, claims: new ClaimForwarder(curator, send, onError) };
    });
  }

  asks(): readonly AskedSet[] {
    return this.#sets.map(({ asked }) => asked);
  }

  async read({ payment, header }: ShownAttachment): Promise<readonly ShownSet[]> {
    const values = header(ORIGIN_HEADER.toLowerCase());
    if (values.length === 0) return this.nothing;
    const shown = parseValues(values);
    if (shown === undefined) return this.#ignored("ORIGIN_MALFORMED");
    const found: ShownSet[] = [];
    for (const origin of shown) found.push(...(await this.#check(origin, payment)));
    if (found.length > 0) this.#core.report({ event: "origin" });
    return found;
  }

  /** The sets in which an origin shows the payment's note. */
  async #check({ maskRoot, proof }: ShownOrigin, payment: ShownAttachment["payment"]): Promise<readonly ShownSet[]> {
    const { nullifier, timestamp } = payment;
    if (!this.#sets.some(({ watch }) => watch.has(maskRoot)))
      await Promise.all(this.#sets.map(({ watch }) => watch.seek(maskRoot)));
    const known = this.#sets.filter(({ watch }) => watch.has(maskRoot));
    if (known.length === 0) return this.#ignored("ORIGIN_ROOT_UNKNOWN");
    const fresh = known.filter(({ watch }) => watch.accepts(maskRoot, timestamp));
    if (fresh.length === 0) return this.#ignored("ORIGIN_ROOT_OLD");
    if (!(await this.#core.verify("origin", proof, [maskRoot, nullifier].map(String))))
      return this.#ignored("ORIGIN_PROOF_INVALID");
    return fresh.map(({ asked: { curator, key, name }, claims }) => {
      claims.add({ nullifier, maskRoot, proof });
      return { curator, key, name, root: maskRoot };
    });
  }

  #ignored(reason: string): readonly ShownSet[] {
    this.#core.report({ event: "originIgnored", reason });
    return this.nothing;
  }

  async close(): Promise<void> {
    for (const { watch } of this.#sets) watch.close();
    await Promise.all(this.#sets.map(({ claims }) => claims.close()));
  }
}

function parseValues(values: readonly string[]): readonly ShownOrigin[] | undefined {
  const [value = ""] = values;
  if (values.length > 1) return undefined;
  try {
    return decodeOriginHeader(value);
  } catch {
    return undefined;
  }
}

declare module "@sotto/resource-server" {
  interface PaymentAttachments {
    /** The sets in which the payer showed the payment's note; empty if none, undefined without the attachment `origins`. */
    readonly origin?: readonly ShownSet[] | undefined;
  }
  interface PaywallEventNames {
    /** A payer showed an origin, and it is right. */
    readonly origin: true;
    /** An origin was shown that does not count. The request was served without it. */
    readonly originIgnored: true;
  }
}
