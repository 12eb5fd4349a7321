// The attachments of the option, opened.
import { delay } from "@sotto/chain";
import { parseOffers, quoted } from "@sotto/protocol";
import { isFieldName, PAYMENT_FIELDS } from "@sotto/protocol/extend";
import type { ArtifactsLock } from "@sotto/prover";
import { invalidOption } from "../errors.ts";
import type { PaywallRequest } from "../routes/options.ts";
import type { AttachmentCore, OpenAttachment, PaymentAttachment, ShownAttachment } from "./attachment.ts";
import type { PaymentMethod } from "./method.ts";
import { PRIVATE_METHOD } from "./methods.ts";
import { parsePayment } from "./offers.ts";
import type { OpenAttachments, PaidProof, PaymentAttachments, ShownPayment } from "./types.ts";

/** Maximum time to read one attachment, ms. The response waits for it. */
const MAX_READ_MS = 5_000;

const HEADER = /^[A-Za-z0-9-]{1,64}$/;
/** What a header can have. */
const VALUE = /^[\t -~]{1,4096}$/;
/** The fields of a private payment. */
const PROOF_FIELDS: Readonly<Record<keyof PaidProof, true>> = {
  ...{ kind: true, id: true, amount: true, bounds: true, nullifier: true, digest: true, txSignature: true },
  ...{ settledThere: true, resource: true, wallet: true, timestamp: true, header: true },
};
/** An attachment must not replace them. */
const TAKEN_FIELDS = [...Object.keys(PROOF_FIELDS), ...PAYMENT_FIELDS, "meter", "constructor"];

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
  if (!isFieldName(field) || TAKEN_FIELDS.includes(field))
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

/**
 * The circuits of attachments, each once.
 * @throws PaywallError INVALID_OPTION if the set of keys lacks one
 */
export function circuitsOf(
  attachments: readonly PaymentAttachment[],
  { circuits: known }: Pick<ArtifactsLock, "circuits">,
): readonly string[] {
  const needed = [...new Set(attachments.flatMap(({ circuits = [] }) => circuits))];
  const missing = needed.find((circuit) => known[circuit] === undefined);
  if (missing === undefined) return needed;
  throw invalidOption(`attachments: the set of keys has none for the circuit ${missing}, which one of them needs`);
}

interface Opened extends Pick<PaymentAttachment, "name" | "field" | "headers"> {
  readonly open: OpenAttachment;
}

/** The header of a request, or of a payment's JSON, that may show an attachment. */
type HeaderOf = (opened: Opened) => ShownAttachment["header"] | undefined;

/** Opened attachments. */
export class Attachments implements OpenAttachments {
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
      for (const { open, ...names } of attachments) all.#add({ ...names, open: await open(core) });
    } catch (error) {
      await all.close();
      throw error;
    }
    return all;
  }

  #add(opened: Opened): void {
    const { name, open } = opened;
    this.#opened.push(opened);
    try {
      const asked = open.asks();
      if (asked !== undefined) this.#asked[name] = parsePayment(name, asked);
    } catch (cause) {
      throw invalidOption(
        `the attachment ${name} asks for something that a 402 cannot contain: ${quoted(String(cause))}`,
        cause,
      );
    }
  }

  get asked(): Readonly<Record<string, unknown>> {
    return this.#asked;
  }

  /** The payment of a request with what the request shows beside it. Never rejects: no attachment takes away what was paid for. */
  async ofRequest(payment: PaidProof, request: PaywallRequest | undefined): Promise<PaidProof & PaymentAttachments> {
    const header = request && ((name: string) => request.header(name));
    return { ...payment, ...(await this.#readAll(payment, () => header)) };
  }

  read(payment: ShownPayment, shown: object): Promise<PaymentAttachments> {
    const fields = new Map<string, unknown>(Object.entries(shown));
    return this.#readAll(payment, ({ field, headers: [first] }) => {
      const value = fields.get(field);
      const values = typeof value === "string" && VALUE.test(value) ? [value] : [];
      return (name) => (name === first?.toLowerCase() ? values : []);
    });
  }

  async #readAll(payment: ShownPayment, headerOf: HeaderOf): Promise<PaymentAttachments> {
    const fields = this.#opened.map(
      async (one) => [one.field, await this.#read(one.open, payment, headerOf(one))] as const,
    );
    return Object.fromEntries(await Promise.all(fields));
  }

  async #read(
    open: OpenAttachment,
    payment: ShownPayment,
    header: ShownAttachment["header"] | undefined,
  ): Promise<unknown> {
    if (header === undefined) return open.nothing;
    const limit = new AbortController();
    const tooLate = async () => {
      await delay(MAX_READ_MS, limit.signal);
      throw new Error(`an attachment was not read in ${MAX_READ_MS} ms`);
    };
    try {
      return await Promise.race([open.read({ payment, header }), tooLate()]);
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
