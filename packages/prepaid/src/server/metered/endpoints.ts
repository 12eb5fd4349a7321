// The paths of metered credit: the signed terms, claims of change, and swaps.
import { SottoError } from "@sotto/protocol";
import {
  answered,
  CheckUnavailable,
  type Decision,
  Gate,
  type PaywallCore,
  type PaywallRequest,
  Refusal,
  wrongMethod,
} from "@sotto/resource-server";
import {
  formatChangeAnswer,
  formatSwapAnswer,
  formatTermsAnswer,
  MAX_METERED_BODY_BYTES,
  PREPAID_CHANGE_PATH,
  PREPAID_SWAP_PATH,
  PREPAID_TERMS_PATH,
  parseChangeRequest,
  parseSwapRequest,
  type SignedMeteredTerms,
} from "../../index.ts";
import { clientOf, KEYS_MAX_AGE } from "../endpoints.ts";
import { prepaidError, refuse } from "../responses.ts";
import type { Claims } from "./claims.ts";
import type { Swaps } from "./swaps.ts";

/** Claims and swaps that are worked on at the same time, and that wait. */
const [RUNNING, WAITING] = [64, 512];
const JSON_TYPE = "application/json; charset=utf-8";

/** What a server with private keys and receipt keys answers. */
export interface Desk {
  readonly claims: Claims;
  readonly swaps: Swaps;
}

export class MeteredEndpoints {
  readonly #core: Pick<PaywallCore, "report">;
  readonly #terms: Uint8Array<ArrayBuffer>;
  readonly #desk: Desk | undefined;
  readonly #gate = new Gate(RUNNING, WAITING);

  /** @param desk undefined on a server that signs nothing */
  constructor(core: Pick<PaywallCore, "report">, terms: readonly SignedMeteredTerms[], desk: Desk | undefined) {
    this.#core = core;
    this.#terms = new TextEncoder().encode(formatTermsAnswer(terms));
    this.#desk = desk;
  }

  /** Answers a request to one of the paths. Never rejects for what a client sends. */
  async answer(request: PaywallRequest): Promise<Decision> {
    const [path] = request.target.split("?", 1);
    if (path === PREPAID_TERMS_PATH) return this.#answerTerms(request.method);
    if (request.method !== "POST") return wrongMethod("POST");
    try {
      const answer = this.#answerOf(path!);
      const text = await readText(request);
      const json = await this.#gate.run(() => answer(text), clientOf(request));
      return answered(new TextEncoder().encode(json), JSON_TYPE);
    } catch (error) {
      return this.#refusal(error);
    }
  }

  /** The same terms for everybody. */
  #answerTerms(method: string): Decision {
    if (method !== "GET" && method !== "HEAD") return wrongMethod("GET, HEAD");
    return answered(this.#terms, JSON_TYPE, { "cache-control": `public, max-age=${KEYS_MAX_AGE}` });
  }

  #answerOf(path: string): (text: string) => Promise<string> {
    if (this.#desk === undefined || ![PREPAID_CHANGE_PATH, PREPAID_SWAP_PATH].includes(path))
      return refuse("METERED_UNKNOWN", "this server signs no change; another server of the origin does");
    const { claims, swaps } = this.#desk;
    return path === PREPAID_CHANGE_PATH
      ? async (text) => formatChangeAnswer(await claims.answer(parse(() => parseChangeRequest(text))))
      : async (text) => formatSwapAnswer(await swaps.answer(parse(() => parseSwapRequest(text))));
  }

  #refusal(error: unknown): Decision {
    if (error instanceof Refusal) {
      this.#core.report({ event: "malformed" });
      return error.answer;
    }
    const retryAfter = error instanceof CheckUnavailable ? error.retryAfter : 5;
    const reason = error instanceof CheckUnavailable ? error.code : "STORE_UNAVAILABLE";
    this.#core.report({ event: "unavailable", reason, error });
    return prepaidError("PREPAID_UNAVAILABLE", "change cannot be signed at the moment; try again", retryAfter);
  }
}

const malformed = (message: string): never => refuse("METERED_REQUEST_INVALID", message);

function parse<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof SottoError)) throw error;
    return malformed(error.message);
  }
}

async function readText({ body }: PaywallRequest): Promise<string> {
  if (body === undefined) throw new TypeError("this adapter does not read bodies");
  const bytes = await body(MAX_METERED_BODY_BYTES).catch(() =>
    malformed(`the body is incomplete, or larger than ${MAX_METERED_BODY_BYTES} bytes`),
  );
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return malformed("the body is not UTF-8");
  }
}
