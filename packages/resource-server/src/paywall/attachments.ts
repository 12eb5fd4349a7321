// The attachments of the option, opened.
import { delay } from "@sotto/chain";
import { parseOffers, quoted } from "@sotto/protocol";
import { invalidOption } from "../errors.ts";
import type { PaywallRequest } from "../routes/options.ts";
import type { AttachmentCore, OpenAttachment, PaymentAttachment } from "./attachment.ts";
import type { PaymentMethod } from "./method.ts";
import { PRIVATE_METHOD } from "./methods.ts";
import { parsePayment } from "./offers.ts";
import type { PaidProof, PaymentAttachments } from "./types.ts";

/** Maximum time to read one attachment, ms. The response waits for it. */
const MAX_READ_MS = 5_000;

const HEADER = /^[A-Za-z0-9-]{1,64}$/;
const FIELD = /^[a-z][A-Za-z]{0,31}$/;
/** The fields of a private payment. */
const PROOF_FIELDS: Readonly<Record<keyof PaidProof, true>> = {
  ...{ kind: true, id: true, amount: true, bounds: true, nullifier: true, digest: true, txSignature: true },
  ...{ settledThere: true, resource: true, wallet: true, timestamp: true, header: true },
};
/** An attachment must not replace them. */
const TAKEN_FIELDS = [...Object.keys(PROOF_FIELDS), "meter", "constructor"];

const isName = (name: unknown): name is string =>
  typeof name === "string" && parseOffers({ payment: { [name]: {} } }).has(name);

const isList = (value: unknown, form: RegExp): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string" && form.test(one));

/** Copies an attachment, so that nothing changes its names later. */
function parseAttachment(attachment: PaymentAttachment, i: number): PaymentAttachment {
  const where = `attachments[${i}]`;
  const { name, field, headers, circuits = [], open } = Object(attachment) as PaymentAttachment;
  if (!isName(name))
    throw invalidOption(
      `${where}.name must have 1 to 32 letters, digits and hyphens, the first in lower case, and not be a field of a 402`,
    );
  if (typeof field !== "string" || !FIELD.test(field) || TAKEN_FIELDS.includes(field))
    throw invalidOption(`${where}.field must have 1 to 32 letters, and not be a field that every payment has`);
  if (!isList(headers, HEADER)) throw invalidOption(`${where}.headers must be a list of names such as X-Payment-Note`);
  if (!isList(circuits, /^[a-z_]{1,32}$/)) throw invalidOption(`${where}.circuits must be a list of names of circuits`);
  if (typeof open !== "function") throw invalidOption(`${where}.open must be a function`);
  return { name, field, headers: [...headers], circuits: [...circuits], open: (core) => attachment.open(core) };
}

/**
 * Checks the option `attachments`.
 * @param methods those of the paywall, whose names and headers are taken
 * @throws PaywallError INVALID_OPTION
 */
export function parseAttachments(option: unknown, methods: readonly PaymentMethod[]): readonly PaymentAttachment[] {
  if (option !== undefined && !Array.isArray(option)) throw invalidOption("attachments must be a list of attachments");
  const attachments: PaymentAttachment[] = (option ?? []).map(parseAttachment);
  const all = [PRIVATE_METHOD, ...methods] as readonly Pick<PaymentMethod, "name" | "headers">[];
  const lower = (text: string) => text.toLowerCase();
  assertUnique(
    [...all, ...attachments].map(({ name }) => name),
    "name",
  );
  assertUnique(
    attachments.map(({ field }) => field),
    "field",
  );
  assertUnique(
    [
      ...new Set(all.flatMap(({ headers = [] }) => headers.map(({ name }) => lower(name)))),
      ...attachments.flatMap(({ headers }) => headers.map(lower)),
    ],
    "header",
  );
  return attachments;
}

function assertUnique(values: readonly string[], what: string): void {
  const twice = values.find((value, i) => values.indexOf(value) !== i);
  if (twice !== undefined) throw invalidOption(`an attachment has the ${what} of another one or of a method: ${twice}`);
}

interface Opened extends Pick<PaymentAttachment, "name" | "field"> {
  readonly open: OpenAttachment;
}

/** The opened attachments of a paywall. */
export class Attachments {
  readonly #opened: Opened[] = [];
  readonly #report: AttachmentCore["report"];
  readonly #asked: Record<string, unknown> = {};

  private constructor(report: AttachmentCore["report"]) {
    this.#report = report;
  }

  /** @throws PaywallError INVALID_OPTION, the errors of the attachments; then none of them stays open */
  static async open(attachments: readonly PaymentAttachment[], core: AttachmentCore): Promise<Attachments> {
    const all = new Attachments(core.report);
    try {
      for (const { name, field, open } of attachments) all.#add(name, field, await open(core));
    } catch (error) {
      await all.close();
      throw error;
    }
    return all;
  }

  #add(name: string, field: string, open: OpenAttachment): void {
    this.#opened.push({ name, field, open });
    try {
      const asked = open.asks();
      if (asked !== undefined) this.#asked[name] = parsePayment(name, asked);
    } catch (cause) {
      throw invalidOption(
        `the attachment ${name} asks for nothing that a 402 can have: ${quoted(String(cause))}`,
        cause,
      );
    }
  }

  /** What each 402 asks for, by the attachments' names. */
  get asked(): Readonly<Record<string, unknown>> {
    return this.#asked;
  }

  /** The payment with what is shown beside it. Never rejects: no attachment takes away what was paid for. */
  async read(payment: PaidProof, request: PaywallRequest | undefined): Promise<PaidProof & PaymentAttachments> {
    const fields = await Promise.all(
      this.#opened.map(async ({ field, open }) => [field, await this.#read(open, payment, request)] as const),
    );
    return { ...payment, ...Object.fromEntries(fields) };
  }

  async #read(open: OpenAttachment, payment: PaidProof, request: PaywallRequest | undefined): Promise<unknown> {
    if (request === undefined) return open.nothing;
    const limit = new AbortController();
    const tooLate = async () => {
      await delay(MAX_READ_MS, limit.signal);
      throw new Error(`an attachment was not read in ${MAX_READ_MS} ms`);
    };
    try {
      return await Promise.race([open.read({ payment, header: (name) => request.header(name) }), tooLate()]);
    } catch (error) {
      this.#report({ event: "trouble", reason: "ATTACHMENT_FAILED", error });
      return open.nothing;
    } finally {
      limit.abort();
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#opened.map(async ({ open }) => open.close?.()));
  }
}
