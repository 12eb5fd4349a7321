// A resource's 402 response, as clients read it.
import { type PaymentInstructions, parseInstructions, readBody, SottoError } from "@sotto/protocol";
import { WebError } from "../errors.ts";

/** No cookies: they would say who asks. */
export const ANONYMOUS: RequestInit = { credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer" };

const MAX_CHALLENGE_BYTES = 64 * 1024;
const CHALLENGE_MS = 30_000;
const MAX_URL_CHARACTERS = 2048;

/** @throws WebError NOT_PAYABLE */
export function urlOf(typed: string): URL {
  const text = typed.trim();
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const usable = url !== undefined && /^https?:$/.test(url.protocol) && url.username === "";
  if (usable && text.length <= MAX_URL_CHARACTERS) return url;
  throw new WebError("NOT_PAYABLE", "this is not an http or https address");
}

/** @throws WebError PAGE_UNREACHABLE */
export async function request(url: URL): Promise<Response> {
  return fetch(url, ANONYMOUS).catch((cause: unknown) => {
    const message = `${url.host} does not answer, or does not allow web pages to read its responses`;
    throw new WebError("PAGE_UNREACHABLE", message, { host: url.host }, { cause });
  });
}

/** @throws WebError NOT_PAYABLE */
export async function instructionsOf(response: Response): Promise<PaymentInstructions> {
  try {
    const bytes = await readBody(response, MAX_CHALLENGE_BYTES, AbortSignal.timeout(CHALLENGE_MS));
    return parseInstructions(JSON.parse(new TextDecoder().decode(bytes)));
  } catch (cause) {
    const why = cause instanceof SottoError ? cause.message : "its response is not sotto's";
    const message = `the server asks for a payment that this wallet cannot make: ${why}`;
    throw new WebError("NOT_PAYABLE", message, {}, { cause });
  }
}
