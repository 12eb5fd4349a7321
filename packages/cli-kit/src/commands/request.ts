import { isUtf8 } from "node:buffer";
import { accessSync, constants, createWriteStream, existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { readBody as readResponse, SottoError } from "@sotto/protocol";
import type { Command, Context } from "../command.ts";
import { money } from "../format.ts";
import { toUrl } from "../frame/arguments.ts";
import { CliError, usage } from "../frame/errors.ts";
import { printable, toJson } from "../frame/output.ts";
import { type Config, readConfig } from "../home/config.ts";
import { readBytes, readInputBytes } from "../home/files.ts";
import { PAYING, type Paid, paidFields, parseLimits, payingFetch } from "../paying.ts";
import { type Session, withWallet } from "../session.ts";

/** Largest response body that --json includes, in bytes. */
const MAX_JSON_BODY_BYTES = 16 * 1024 * 1024;
const METHOD = /^[A-Z]{1,16}$/;
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/;

const OUTPUT = { output: { value: "FILE", help: "write the response's body to this file", short: "o" } } as const;

const details = [
  "The response's body goes to standard output, the payment to standard error; --json puts both into one document. If",
  "the command is interrupted, run it again: it resumes the purchase and pays nothing twice.",
];

export const pay: Command = {
  name: "pay",
  summary: "Fetches a URL and pays if the server asks for it.",
  positionals: ["URL"],
  options: { ...PAYING, ...OUTPUT },
  details: ["Like `sotto request URL`, for a GET.", ...details],
  async run(context) {
    return perform(context, context.args.positional(0, "URL"), { method: "GET" });
  },
};

export const request: Command = {
  name: "request",
  summary: "Sends any request and pays if the server asks for it.",
  positionals: ["URL"],
  options: {
    method: { value: "METHOD", help: "HTTP method; default: GET, or POST with --data", short: "X" },
    header: { value: "'NAME: VALUE'", help: "request header; may be given more than once", short: "H", multiple: true },
    data: { value: "TEXT", help: "the body; @FILE reads it from a file, @- from standard input", short: "d" },
    include: { help: "show the status and the headers before the body", short: "i" },
    ...PAYING,
    ...OUTPUT,
  },
  details,
  async run(context) {
    const { args } = context;
    const data = args.text("data");
    const method = args.text("method") ?? (data === undefined ? "GET" : "POST");
    if (!METHOD.test(method)) throw usage("--method must be 1 to 16 upper-case letters");
    if (data !== undefined && /^(GET|HEAD)$/.test(method)) throw usage(`a ${method} has no body`);
    const headers = new Headers();
    for (const line of args.texts("header")) {
      const [, name, value] = HEADER.exec(line) ?? [];
      if (name === undefined || value === undefined) throw usage("--header must be 'NAME: VALUE'");
      if (/^x-payment-proof$/i.test(name))
        throw usage("--header cannot set X-Payment-Proof: this command makes the proof");
      headers.append(name, value);
    }
    const body = await readBody(context, data);
    return perform(context, args.positional(0, "URL"), { method, headers, body: body ?? null });
  },
};

/** Bytes of a file or of standard input, as they are: decoding them as text would change every byte that is not UTF-8. */
async function readBody(
  { streams }: Context,
  data: string | undefined,
): Promise<string | Buffer<ArrayBuffer> | undefined> {
  if (data === undefined || !data.startsWith("@")) return data;
  return data === "@-" ? readInputBytes(streams.stdin) : readBytes(data.slice(1));
}

async function perform(context: Context, address: string, init: RequestInit): Promise<undefined> {
  const url = toUrl(address, "URL");
  const config = readConfig(context.home);
  const limits = parseLimits(context, config);
  const file = context.args.text("output");
  if (file !== undefined) assertWritable(file);
  return withWallet(context, true, async (session) => {
    const { response, paid } = await payingFetch(session, limits, url, init);
    if (context.output.json) await reportJson(session, config, response, paid, file);
    else await reportText(session, config, response, paid, file);
    if (response.status >= 400)
      throw new CliError("HTTP_STATUS", `the server answered with status ${response.status}`, {
        status: response.status,
      });
    return undefined;
  });
}

/** Checks --output before anything is paid. @throws CliError FILE_EXISTS, FILE_UNREADABLE */
function assertWritable(file: string): void {
  if (existsSync(file)) throw new CliError("FILE_EXISTS", `${file} already exists; choose another name`);
  try {
    accessSync(dirname(resolve(file)), constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new CliError("FILE_UNREADABLE", `cannot write ${file}: its folder is missing or not writable`, {}, { cause });
  }
}

async function reportText(
  { context: { args, output } }: Session,
  config: Config,
  response: Response,
  paid: Paid | undefined,
  file: string | undefined,
): Promise<void> {
  if (paid !== undefined)
    output.note(`paid ${money(paid.amount, config)}: ${paid.transaction ?? `with a ${paid.method} token`}`);
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

async function reportJson(
  session: Session,
  config: Config,
  response: Response,
  paid: Paid | undefined,
  file: string | undefined,
): Promise<void> {
  const { output } = session.context;
  const report = {
    url: response.url,
    status: response.status,
    headers: Object.fromEntries(response.headers),
    payment: paidFields(session, paid, config),
  };
  if (file !== undefined) {
    await save(file, response);
    output.raw(`${toJson({ ...report, file })}\n`);
    return;
  }
  const bytes = await bodyOf(response);
  const body = isUtf8(bytes) ? { body: bytes.toString("utf8") } : { bodyBase64: bytes.toString("base64") };
  output.raw(`${toJson({ ...report, ...body })}\n`);
}

async function bodyOf(response: Response): Promise<Buffer> {
  try {
    return Buffer.from(await readResponse(response, MAX_JSON_BODY_BYTES));
  } catch (error) {
    if (!(error instanceof SottoError)) throw error;
    throw usage(`the response is larger than ${MAX_JSON_BODY_BYTES} bytes: save it with --output FILE`);
  }
}

async function save(file: string, response: Response): Promise<void> {
  const stream = createWriteStream(file, { flags: "wx", mode: 0o600 });
  await pipeline(response.body ?? [], stream);
}
