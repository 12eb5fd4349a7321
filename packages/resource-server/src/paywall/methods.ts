// The methods of the option, in the order in which they decide on a request. The private payment decides before them.
import { type EthCall, parseOffers, SCHEDULE_PATH, SottoError } from "@sotto/protocol";
import { invalidOption, PaywallError } from "../errors.ts";
import type { FixedQuote } from "../routes/options.ts";
import type { PaymentAttachment } from "./attachment.ts";
import type { OpenMethod, PaymentMethod, PaywallCore } from "./method.ts";
import type { PoolToken } from "./pool-token.ts";
import type { MethodHeader, MethodPath } from "./types.ts";

/** The method of every paywall. Handlers may see its header: a proof is of no use to anyone once it is accepted. */
export const PRIVATE_METHOD = {
  name: "private",
  headers: [{ name: "X-Payment-Proof" }],
} as const satisfies Omit<PaymentMethod, "open">;

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const PATH = /^\/\.well-known\/sotto(?:\/[a-z0-9-]+)+$/;

/** Whether a 402 can contain an offer by this name. */
const isName = (name: unknown): name is string =>
  typeof name === "string" && parseOffers({ payment: { [name]: {} } }).has(name);

const isHeader = ({ name, scheme = "x", kept = false }: MethodHeader): boolean =>
  [name, scheme].every((one) => typeof one === "string" && TOKEN.test(one)) && typeof kept === "boolean";

const isPath = ({ method, path }: MethodPath): boolean =>
  ["GET", "POST"].includes(method) && typeof path === "string" && PATH.test(path);

/** Copies a method, so that nothing changes its name, headers or paths later. */
function parseMethod(method: PaymentMethod, i: number): PaymentMethod {
  const where = `methods[${i}]`;
  const { name, headers = [], paths = [] } = Object(method) as PaymentMethod;
  if (!isName(name))
    throw invalidOption(
      `${where}.name must have 1 to 32 letters, digits and hyphens, the first in lower case, and not be a field of a 402`,
    );
  if (typeof method.open !== "function") throw invalidOption(`${where}.open must be a function`);
  if (!Array.isArray(headers) || !headers.every((one) => isHeader(Object(one) as MethodHeader)))
    throw invalidOption(`${where}.headers must be a list of headers such as { name: "X-Password" }`);
  if (!Array.isArray(paths) || !paths.every((one) => isPath(Object(one) as MethodPath)))
    throw invalidOption(`${where}.paths must be a list such as { method: "GET", path: "/.well-known/sotto/keys" }`);
  return {
    name,
    headers: headers.map((one: MethodHeader) => ({ ...one })),
    paths: paths.map((one: MethodPath) => ({ ...one })),
    open: (core) => method.open(core),
  };
}

function assertUnique(values: readonly string[], what: string): void {
  const twice = values.find((value, i) => values.indexOf(value) !== i);
  if (twice !== undefined) throw invalidOption(`two of methods have the same ${what}: ${twice}`);
}

/** Two methods share a header only if each has a scheme of its own. */
function assertOwnHeaders(headers: readonly MethodHeader[]): void {
  const lower = (text: string) => text.toLowerCase();
  const whole = headers.filter(({ scheme }) => scheme === undefined).map(({ name }) => lower(name));
  const shared = headers.flatMap(({ name, scheme }) =>
    scheme === undefined || whole.includes(lower(name)) ? [lower(name)] : [lower(`${name}: ${scheme}`)],
  );
  assertUnique(shared, "header");
}

/**
 * Checks the option `methods`. No method may have the name or a header of another one, or of the private payment.
 * @throws PaywallError INVALID_OPTION
 */
export function parseMethods(option: unknown): readonly PaymentMethod[] {
  if (option !== undefined && !Array.isArray(option)) throw invalidOption("methods must be a list of payment methods");
  const methods: PaymentMethod[] = (option ?? []).map(parseMethod);
  const all: readonly Omit<PaymentMethod, "open">[] = [PRIVATE_METHOD, ...methods];
  const names = all.map(({ name }) => name);
  assertUnique(names, "name");
  const paths = methods.flatMap((method) => method.paths ?? []);
  assertUnique([SCHEDULE_PATH, ...paths.map(({ path }) => path)], "path");
  assertOwnHeaders(all.flatMap(({ headers = [] }) => headers));
  return methods;
}

/** The names of the request headers that methods and attachments read, each once. */
export const headerNames = (
  methods: readonly Pick<PaymentMethod, "headers">[],
  attachments: readonly Pick<PaymentAttachment, "headers">[],
): readonly string[] => [
  ...new Set([
    ...methods.flatMap(({ headers = [] }) => headers.map(({ name }) => name)),
    ...attachments.flatMap(({ headers }) => headers),
  ]),
];

/** An opened method, with its name. */
export interface NamedMethod {
  readonly name: string;
  readonly open: OpenMethod;
}

/** The opened methods of the option. */
export class Methods {
  /** In the order in which they decide. */
  readonly all: readonly NamedMethod[];
  /** The headers to remove before handlers see a request. */
  readonly removedHeaders: readonly MethodHeader[];
  /** The paths that methods answer. */
  readonly paths: readonly MethodPath[];
  readonly #byPath: ReadonlyMap<string, OpenMethod>;

  private constructor(methods: readonly PaymentMethod[], opened: readonly OpenMethod[]) {
    this.all = methods.map(({ name }, i) => ({ name, open: opened[i]! }));
    this.removedHeaders = methods.flatMap(({ headers = [] }) => headers).filter(({ kept }) => kept !== true);
    this.paths = methods.flatMap(({ paths = [] }) => paths);
    this.#byPath = new Map(
      methods.flatMap(({ paths = [] }, i) => paths.map(({ path }) => [path, opened[i]!] as const)),
    );
  }

  /** @throws PaywallError INVALID_OPTION, the errors of the methods; then none of them stays open */
  static async open(methods: readonly PaymentMethod[], core: PaywallCore): Promise<Methods> {
    const opened: OpenMethod[] = [];
    try {
      for (const { name, paths = [], open } of methods) {
        const method = await open(core);
        if (typeof method !== "object" || method === null) throw invalidOption(`${name}.open must return an object`);
        opened.push(method);
        if (paths.length > 0 && method.answer === undefined)
          throw invalidOption(`the method ${name} has paths, so it must have a function answer`);
      }
    } catch (error) {
      await Promise.allSettled(opened.map(async (method) => method.close?.()));
      throw error;
    }
    return new Methods(methods, opened);
  }

  /** The method that answers a request target. */
  at(target: string): OpenMethod | undefined {
    return this.#byPath.get(target.split("?", 1)[0]!);
  }

  /** @throws the errors of the methods */
  assertQuote(quote: FixedQuote, token: PoolToken): void {
    for (const { open } of this.all) open.assertQuote?.(quote, token);
  }

  /** @throws PaywallError CHAIN_UNAVAILABLE, the errors of the methods */
  async assertSigned(call: EthCall, token: PoolToken): Promise<void> {
    try {
      for (const { open } of this.all) await open.assertSigned?.(call, token);
    } catch (cause) {
      if (!(cause instanceof SottoError) || cause.code !== "BINDING_UNCHECKED") throw cause;
      throw new PaywallError("CHAIN_UNAVAILABLE", cause.message, {}, { cause });
    }
  }

  /** Closes every method, even if another one fails. @throws the first error of a method */
  async close(): Promise<void> {
    const closed = await Promise.allSettled(this.all.map(async ({ open }) => open.close?.()));
    for (const one of closed) if (one.status === "rejected") throw one.reason;
  }
}
