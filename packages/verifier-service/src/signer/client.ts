import { quoted } from "@sotto/protocol";
import { SignerError } from "./errors.ts";
import { SignerConnection, type SignerEndpoint } from "./post.ts";

/** How long the signer's list of accounts is used again, ms: readiness checks and admission ask for it often. */
const ACCOUNTS_MS = 2_000;
/** How long it is used while the next one is on its way, ms: a signer that hangs must not delay requests that do not need it. */
const MAX_AGE_MS = 30_000;

interface Accounts {
  readonly value: Promise<ReadonlySet<string>>;
  /** When it arrived, or failed to. */
  readonly at: number;
}

/** JSON-RPC requests to a signer like Web3Signer in its mode eth1. Only the envelope of a response is checked here. */
export class SignerClient {
  readonly #connection: SignerConnection;
  readonly #clock: () => number;
  #lastId = 0;
  #accounts: Accounts | undefined;
  #asking: Promise<ReadonlySet<string>> | undefined;

  /** @param clock monotonic time, ms */
  constructor(endpoint: SignerEndpoint, clock: () => number = () => performance.now()) {
    this.#connection = new SignerConnection(endpoint);
    this.#clock = clock;
  }

  /** The signer's host. */
  get name(): string {
    return this.#connection.name;
  }

  /**
   * Sends one request.
   * @throws SignerError SIGNER_UNAVAILABLE if there is no JSON-RPC response in time, SIGNER_REFUSED if it is an error
   */
  async ask(method: string, params: readonly unknown[]): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    const { status, text } = await this.#connection.post(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    const answer = this.#parse(method, status, text);
    // A signer that cannot read the request responds without its id.
    const { error } = answer;
    if (isRpcError(error))
      throw new SignerError(
        "SIGNER_REFUSED",
        `the signer ${this.name} responds to ${method} with error ${error.code}: ${quoted(error.message)}`,
      );
    if (status !== 200 || answer.id !== id || !("result" in answer))
      throw this.#connection.unavailable(
        `responds to ${method} with HTTP status ${status} and no result of this request`,
      );
    return answer.result;
  }

  /**
   * The addresses, lower case, that the signer has keys of. It is asked at most every two seconds. A call waits for its response
   * only if the last one is 30 s old, or there is none.
   * @throws SignerError SIGNER_UNAVAILABLE, SIGNER_REFUSED
   */
  accounts(): Promise<ReadonlySet<string>> {
    const age = this.#accounts === undefined ? Number.POSITIVE_INFINITY : this.#clock() - this.#accounts.at;
    if (age >= ACCOUNTS_MS && this.#asking === undefined) {
      const value = this.#askAccounts();
      const ended = () => {
        this.#asking = undefined;
        this.#accounts = { value, at: this.#clock() };
      };
      value.then(ended, ended);
      this.#asking = value;
    }
    return this.#accounts !== undefined && age < MAX_AGE_MS ? this.#accounts.value : this.#asking!;
  }

  /** Closes its connections. */
  close(): void {
    this.#connection.close();
  }

  async #askAccounts(): Promise<ReadonlySet<string>> {
    const result = await this.ask("eth_accounts", []);
    if (!Array.isArray(result)) throw this.#connection.unavailable("responds to eth_accounts without a list");
    return new Set(result.flatMap((each: unknown) => (typeof each === "string" ? [each.toLowerCase()] : [])));
  }

  #parse(method: string, status: number, text: string): { id?: unknown; result?: unknown; error?: unknown } {
    try {
      return Object(JSON.parse(text));
    } catch (cause) {
      const what = status === 200 ? "something that is not JSON" : `HTTP status ${status}`;
      throw this.#connection.unavailable(`responds to ${method} with ${what}`, cause);
    }
  }
}

function isRpcError(error: unknown): error is { readonly code: number; readonly message: unknown } {
  return Number.isSafeInteger((Object(error) as { code?: unknown }).code);
}
