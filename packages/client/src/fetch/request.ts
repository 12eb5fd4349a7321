// The arguments of fetch, checked before anything is sent or paid. The platform turns an object that it does not know into
// a text, such as "[object FormData]" for a form of another fetch or of jsdom, and sends that.
import { isArrayBuffer } from "@sotto/protocol";
import { FetchError } from "./errors.ts";

/**
 * Makes a Request of the arguments of fetch. Refuses objects that the platform would turn into text.
 * @throws FetchError REQUEST_NOT_SUPPORTED; TypeError, like fetch, for other invalid arguments
 */
export async function createCheckedRequest(input: string | URL | Request, init: RequestInit = {}): Promise<Request> {
  const request = createRequest(input, init);
  if (!isData(init.body)) assertNotObjectText(await firstChunk(request), init.body);
  return request;
}

/** Like {@link createCheckedRequest}, but the caller passes the body to {@link assertNotObjectText} once it is read. */
export function createRequest(input: string | URL | Request, init: RequestInit): Request {
  assertTarget(input);
  assertInit(init);
  const { body } = init;
  if (body != null && !isSendable(body)) throw unsupported(body);
  const streaming = isStream(body) ? { duplex: "half" } : {};
  return new Request(input, { ...init, ...streaming } as RequestInit);
}

/**
 * Refuses a body that the platform turned into text before it was checked, as in the Request that a caller made.
 * @param given the body that the caller passed; a text or bytes are never refused
 * @throws FetchError REQUEST_NOT_SUPPORTED
 */
export function assertNotObjectText(body: Uint8Array, given: unknown): void {
  if (!isData(given) && isObjectText(body)) throw unsupported(given);
}

/** @throws FetchError REQUEST_NOT_SUPPORTED if the options are a Request, whose fields a copy of the options would lack */
export function assertInit(init: object): void {
  if (!("bodyUsed" in init)) return;
  throw new FetchError("REQUEST_NOT_SUPPORTED", "the options are a Request; pass it as the first argument instead");
}

/**
 * Whether this is a Request of this runtime. Servers such as Hono's for Node replace the global class by one that extends
 * the runtime's; its clones, and Requests made before, are the runtime's.
 */
export function isRequest(input: unknown): input is Request {
  for (let type: unknown = Request; typeof type === "function" && type.prototype; type = Object.getPrototypeOf(type))
    if (input instanceof type) return true;
  return false;
}

/** A URL of another realm is accepted: its text is the URL. */
function assertTarget(input: unknown): void {
  if (typeof input === "string" || isRequest(input) || URL.canParse(String(input))) return;
  throw new FetchError(
    "REQUEST_NOT_SUPPORTED",
    `a URL or a Request of this runtime was expected, got ${nameOf(input)}; of another fetch's Request, pass the url, method, headers and body`,
  );
}

/** Text, or bytes of any realm. */
const isData = (body: unknown): boolean => typeof body === "string" || ArrayBuffer.isView(body) || isArrayBuffer(body);

/** Apart from bytes, the platform knows only the classes of its own realm. */
const isSendable = (body: unknown): boolean =>
  isData(body) || [Blob, FormData, URLSearchParams].some((type) => body instanceof type) || isStream(body);

/** Node's fetch also sends the chunks of async iterables, such as its own streams. */
const isStream = (body: unknown): boolean =>
  body instanceof ReadableStream || (typeof body === "object" && body !== null && Symbol.asyncIterator in body);

const MAX_OBJECT_TEXT = 128;

/** Whether these bytes are the text that the language makes of an object. */
const isObjectText = (bytes: Uint8Array): boolean =>
  bytes.length <= MAX_OBJECT_TEXT && /^\[object [^[\]]+\]$/.test(new TextDecoder().decode(bytes));

/** The first chunk of the body; a text is one chunk. Empty if there is no body. */
async function firstChunk(request: Request): Promise<Uint8Array> {
  const copy = request.clone();
  // Firefox has no Request.body.
  if (copy.body === undefined) return new Uint8Array(await copy.arrayBuffer());
  const reader = copy.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  // Ends when the other copy is read or cancelled too.
  reader?.cancel().catch(() => undefined);
  return value ?? new Uint8Array(0);
}

/** The class of an object, or the type of another value. */
const nameOf = (value: unknown): string =>
  typeof value === "object" && value !== null ? Object.prototype.toString.call(value).slice(8, -1) : typeof value;

const CLASSES = ["Blob", "File", "FormData", "URLSearchParams", "ReadableStream"];

/** @param body undefined if only the text that it became is known */
function unsupported(body: unknown): FetchError {
  const name = body == null ? "an object" : nameOf(body);
  const what = CLASSES.includes(name) ? `another library's ${name}` : name;
  const json = name === "Object" ? ", or a text of JSON.stringify" : "";
  return new FetchError(
    "REQUEST_NOT_SUPPORTED",
    `the request's body is ${what}, which this runtime's fetch cannot send; pass text, bytes, or this runtime's own Blob, FormData, URLSearchParams or ReadableStream${json}`,
  );
}
