import { isUtf8 } from "node:buffer";
import { accessSync, constants, createWriteStream, existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { readBody as readAnswer, SottoError } from "@sotto/protocol";
import type { Command, Context } from "../command.ts";
import { money } from "../format.ts";
import { toUrl } from "../frame/arguments.ts";
import { CliError, usage } from "../frame/errors.ts";
import { printable, toJson } from "../frame/output.ts";
import { type Config, readConfig } from "../home/config.ts";
import { readInput, readText } from "../home/files.ts";
import { PAYING, type Paid, paidFields, payingFetch, readLimits } from "../paying.ts";
import { type Session, withWallet } from "../session.ts";

/** Most bytes of an answer that --json takes in. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;
const METHOD = /^[A-Z]{1,16}$/;
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/;

const OUTPUT = { output: { value: "FILE", help: "writes the answer's body there", short: "o" } } as const;

const details = [
  "The answer's body goes to standard output, what was paid to standard error; with --json both are in one document. If",
  "it breaks off at any point, the same command goes on with the purchase and pays nothing twice.",
];

export const pay: Command = {
  name: "pay",
  summary: "Pays for an address and fetches what is there.",
  positionals: ["URL"],
  options: { ...PAYING, ...OUTPUT },
  details: ["Like request with no options: a GET that answers 402.", ...details],
  async run(context) {
    return perform(context, context.args.positional(0, "URL"), { method: "GET" });
  },
};

export const request: Command = {
  name: "request",
  summary: "A curl that pays: any request, paid for where the server asks for it.",
  positionals: ["URL"],
  options: {
    method: { value: "METHOD", help: "default GET, with --data POST", short: "X" },
    header: { value: "'NAME: VALUE'", help: "may be given more than once", short: "H", multiple: true },
    data: { value: "TEXT", help: "the body; @FILE for a file's content, @- for standard input", short: "d" },
    include: { help: "status and headers before the body", short: "i" },
    ...PAYING,
    ...OUTPUT,
  },
  details,
  async run(context) {
    const { args } = context;
    const data = args.text("data");
    const method = args.text("method") ?? (data === undefined ? "GET" : "POST");
    if (!METHOD.test(method)) throw usage("--method must be upper-case letters");
    if (data !== undefined && /^(GET|HEAD)$/.test(method)) throw usage(`a ${method} has no body`);
    const headers = new Headers();
    for (const line of args.texts("header")) {
      const [, name, value] = HEADER.exec(line) ?? [];
      if (name === undefined || value === undefined) throw usage("a --header is 'NAME: VALUE'");
      if (/^x-payment-proof$/i.test(name)) throw usage("X-Payment-Proof is what this command is for");
      headers.append(name, value);
    }
    const body = await readBody(context, data);
    return perform(context, args.positional(0, "URL"), { method, headers, ...(body === undefined ? {} : { body }) });
  },
};

async function readBody({ streams }: Context, data: string | undefined): Promise<string | undefined> {
  if (data === undefined || !data.startsWith("@")) return data;
  return data === "@-" ? readInput(streams.stdin) : readText(data.slice(1));
}

async function perform(context: Context, address: string, init: RequestInit): Promise<undefined> {
  const url = toUrl(address, "URL");
  const config = readConfig(context.home);
  const limits = readLimits(context, config);
  const file = context.args.text("output");
  if (file !== undefined) expectPlace(file);
  return withWallet(context, true, async (session) => {
    const { response, paid } = await payingFetch(session, limits, url, init);
    if (context.output.json) await tellJson(session, config, response, paid, file);
    else await tellText(session, config, response, paid, file);
    if (response.status >= 400)
      throw new CliError("HTTP_STATUS", `the server answers ${response.status}`, { status: response.status });
    return undefined;
  });
}

/** Before anything is paid: what was paid for must have a place to go. @throws CliError FILE_EXISTS, FILE_UNREADABLE */
function expectPlace(file: string): void {
  if (existsSync(file)) throw new CliError("FILE_EXISTS", `${file} is there already`);
  try {
    accessSync(dirname(resolve(file)), constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new CliError("FILE_UNREADABLE", `${file} cannot be written: its folder cannot`, {}, { cause });
  }
}

async function tellText(
  { context: { args, output } }: Session,
  config: Config,
  response: Response,
  paid: Paid | undefined,
  file: string | undefined,
): Promise<void> {
  if (paid !== undefined) output.note(`paid ${money(paid.amount, config)}: ${paid.transaction}`);
  if (args.flag("include")) {
    const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`);
    const all = [`HTTP ${response.status} ${response.statusText}`.trimEnd(), ...lines];
    output.raw(`${all.map(printable).join("\n")}\n\n`);
  }
  if (file === undefined) {
    if (response.body !== null) await output.body(response.body);
    return;
  }
  await save(file, response);
}

async function tellJson(
  session: Session,
  config: Config,
  response: Response,
  paid: Paid | undefined,
  file: string | undefined,
): Promise<void> {
  const { output } = session.context;
  const told = {
    url: response.url,
    status: response.status,
    headers: Object.fromEntries(response.headers),
    payment: paidFields(session, paid, config),
  };
  if (file !== undefined) {
    await save(file, response);
    output.raw(`${toJson({ ...told, file })}\n`);
    return;
  }
  const bytes = await bodyOf(response);
  const body = isUtf8(bytes) ? { body: bytes.toString("utf8") } : { bodyBase64: bytes.toString("base64") };
  output.raw(`${toJson({ ...told, ...body })}\n`);
}

async function bodyOf(response: Response): Promise<Buffer> {
  try {
    return Buffer.from(await readAnswer(response, MAX_RESPONSE_BYTES));
  } catch (error) {
    if (!(error instanceof SottoError)) throw error;
    throw usage(`the answer has more than ${MAX_RESPONSE_BYTES} bytes: --output FILE takes it`);
  }
}

async function save(file: string, response: Response): Promise<void> {
  const stream = createWriteStream(file, { flags: "wx", mode: 0o600 });
  await pipeline(response.body ?? [], stream);
}
