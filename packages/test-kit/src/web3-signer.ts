// A remote signer that behaves like Web3Signer in its mode eth1, but stricter: it refuses unknown fields and other types. On demand
// it is at fault, or hostile.
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { Signature, Transaction, type TransactionLike, Wallet } from "ethers";
import { ENDLESS } from "./endless-server.ts";

interface Question {
  readonly jsonrpc: "2.0";
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

type Content = TransactionLike<string> & {
  readonly nonce: number;
  readonly gasLimit: bigint;
  readonly chainId: bigint;
};

const MOVED = "/moved";
const OTHER_ACCOUNT = `0x${"99".repeat(20)}`;

/** What a hostile signer signs instead of what it was asked to sign. */
export const FORGERIES = {
  nonce: (asked) => ({ nonce: asked.nonce + 1 }),
  recipient: () => ({ to: OTHER_ACCOUNT }),
  data: (asked) => ({ data: `${asked.data}00` }),
  value: () => ({ value: 1n }),
  "gas limit": (asked) => ({ gasLimit: asked.gasLimit + 1n }),
  "maximum fee": (asked) => ({ maxFeePerGas: BigInt(asked.maxFeePerGas!) * 2n }),
  "maximum priority fee": () => ({ maxPriorityFeePerGas: 0n }),
  "chain id": (asked) => ({ chainId: asked.chainId + 1n }),
  "access list": () => ({ accessList: [{ address: OTHER_ACCOUNT, storageKeys: [] }] }),
  type: (asked) => ({ type: 0, gasPrice: asked.maxFeePerGas!, maxFeePerGas: null, maxPriorityFeePerGas: null }),
} as const satisfies Record<string, (asked: Content) => Partial<TransactionLike<string>>>;

/** What a hostile signer returns instead of the signed transaction. */
export const RESULTS: Readonly<Record<string, (raw: string) => unknown>> = {
  nothing: () => null,
  "an object": (raw) => ({ raw }),
  text: () => "signed",
  "half of it": (raw) => raw.slice(0, 101),
  "it with a byte more": (raw) => `${raw}00`,
  "it unsigned": (raw) => Transaction.from(raw).unsignedSerialized,
};

/** Faults of the signer, or of what is before it. */
export const FAULTS = {
  hangs: () => undefined,
  breaksOff: (response) => void response.socket?.destroy(),
  floods: ENDLESS.flood,
  drips: ENDLESS.drip,
  isNoSigner: (response) => void response.end("<html>hello</html>"),
  isABadGateway: (response) => void response.writeHead(502).end('{"error":"bad gateway"}'),
  isUnauthorized: (response) => void response.writeHead(401).end(),
  // A client that follows it reaches the signer, because MOVED has no faults.
  redirects: (response) => void response.writeHead(307, { location: MOVED }).end(),
  switchesProtocols: (response) => void response.writeHead(101, { connection: "upgrade", upgrade: "websocket" }).end(),
  mixesUpIds: (response) => void response.end('{"jsonrpc":"2.0","id":-1,"result":"0x"}'),
} as const satisfies Record<string, (response: ServerResponse) => void>;

/** Signs with fresh randomness, so that the same transaction has another signature each time, as with some KMS. */
function signAgain(transaction: Transaction, { privateKey }: Wallet): string {
  const [digest, key] = [transaction.unsignedHash, privateKey].map((hex) => Buffer.from(hex.slice(2), "hex"));
  const bytes = secp256k1.sign(digest!, key!, { prehash: false, extraEntropy: true, format: "recovered" });
  const [r, s] = [bytes.subarray(1, 33), bytes.subarray(33)].map((part) => `0x${Buffer.from(part).toString("hex")}`);
  const signed = transaction.clone();
  signed.signature = Signature.from({ r: r!, s: s!, yParity: bytes[0] as 0 | 1 });
  return signed.serialized;
}

export class Web3Signer {
  /** What it signs instead of what it is asked to sign. */
  forgery: keyof typeof FORGERIES | undefined;
  /** What it returns instead of the signed transaction. */
  result: ((raw: string) => unknown) | undefined;
  fault: keyof typeof FAULTS | undefined;
  /** Whether it signs with another key, but for the account that was asked for. */
  usesOtherKey = false;
  /** Whether its connection to the KMS is broken: it lists its accounts, and signs nothing. */
  cannotSign = false;
  /** What it requires in the header Authorization. */
  authorization: string | undefined;
  /** All calls, in order of arrival. */
  readonly questions: Question[] = [];
  readonly #wallets: readonly Wallet[];
  readonly #chainId: bigint;
  readonly #server: Server;

  private constructor(keys: readonly string[], chainId: bigint, tls: ServerOptions | undefined) {
    this.#wallets = keys.map((key) => new Wallet(key));
    this.#chainId = chainId;
    const respond: RequestListener = (request, response) => {
      let body = "";
      request.on("data", (chunk) => {
        body += chunk;
      });
      request.on("end", () => {
        if (this.fault !== undefined && request.url !== MOVED) FAULTS[this.fault](response);
        else if (this.authorization !== undefined && request.headers.authorization !== this.authorization)
          response.writeHead(401).end();
        else if (request.method !== "POST" || request.headers["content-type"] !== "application/json")
          response.writeHead(400).end();
        else this.#respond(body, response);
      });
    };
    this.#server = tls === undefined ? createServer(respond) : createTlsServer(tls, respond);
  }

  /** @param tls with certificate and key, it is an https server */
  static async start(
    keys: readonly string[],
    { chainId = 31337n, tls, port = 0 }: SignerSettings = {},
  ): Promise<Web3Signer> {
    const signer = new Web3Signer(keys, chainId, tls);
    await new Promise<void>((resolve) => signer.#server.listen(port, "127.0.0.1", resolve));
    return signer;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** How many transactions it was asked to sign. */
  get signatures(): number {
    return this.questions.filter(({ method }) => method === "eth_signTransaction").length;
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #respond(body: string, response: ServerResponse): void {
    const question = parseQuestion(body);
    if (typeof question === "string") {
      const error = { code: -32600, message: question };
      response.writeHead(400).end(JSON.stringify({ jsonrpc: "2.0", id: null, error }));
      return;
    }
    this.questions.push(question);
    const answer = this.#answer(question);
    response.writeHead("error" in answer ? 400 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: question.id, ...answer }));
  }

  #answer({ method, params }: Question): { result: unknown } | { error: { code: number; message: string } } {
    if (method === "eth_accounts")
      return params.length === 0
        ? { result: this.#wallets.map(({ address }) => address.toLowerCase()) }
        : refused("Invalid params");
    if (method !== "eth_signTransaction") return { error: { code: -32601, message: "Method not found" } };
    const asked = params.length === 1 ? parseFields(params[0]) : "one parameter";
    if (typeof asked === "string") return refused(`Invalid params: ${asked}`);
    const { from, ...content } = asked;
    const wallet = this.#wallets.find(({ address }) => address.toLowerCase() === from.toLowerCase());
    // Web3Signer answers this to every failure of signing.
    if (wallet === undefined || this.cannotSign || content.chainId !== this.#chainId)
      return { error: { code: -32000, message: "No unlocked account matches the Sender" } };
    const forged = this.forgery === undefined ? {} : FORGERIES[this.forgery](content);
    const key = this.usesOtherKey ? Wallet.createRandom() : wallet;
    const raw = signAgain(Transaction.from({ ...content, ...forged }), new Wallet(key.privateKey));
    return { result: this.result === undefined ? raw : this.result(raw) };
  }
}

interface SignerSettings {
  readonly chainId?: bigint;
  readonly tls?: ServerOptions;
  readonly port?: number;
}

const refused = (message: string) => ({ error: { code: -32602, message } });

/** @returns the request, or what is wrong with it */
function parseQuestion(body: string): Question | string {
  let value: Partial<Question>;
  try {
    value = Object(JSON.parse(body));
  } catch {
    return "not JSON";
  }
  const { jsonrpc, id, method, params, ...rest } = value;
  const right = jsonrpc === "2.0" && typeof id === "number" && typeof method === "string" && Array.isArray(params);
  return right && Object.keys(rest).length === 0 ? (value as Question) : "not a JSON-RPC request";
}

const QUANTITY = /^0x(?:0|[1-9a-f][0-9a-f]*)$/;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const FIELDS: Readonly<Record<string, RegExp>> = {
  from: ADDRESS,
  to: ADDRESS,
  data: /^0x(?:[0-9a-fA-F]{2})*$/,
  nonce: QUANTITY,
  gas: QUANTITY,
  value: QUANTITY,
  maxFeePerGas: QUANTITY,
  maxPriorityFeePerGas: QUANTITY,
  chainId: QUANTITY,
};

/** @returns the transaction, or what is wrong with it */
function parseFields(value: unknown): (Content & { readonly from: string }) | string {
  const fields = Object(value) as Record<string, string>;
  const unknown = Object.keys(fields).find((name) => !(name in FIELDS));
  if (unknown !== undefined) return `unknown field ${unknown}`;
  const wrong = Object.entries(FIELDS).find(([name, form]) => {
    const field: unknown = fields[name];
    return typeof field !== "string" || !form.test(field);
  });
  if (wrong !== undefined) return `field ${wrong[0]}`;
  return {
    type: 2,
    from: fields["from"]!,
    to: fields["to"]!,
    data: fields["data"]!,
    nonce: Number(fields["nonce"]),
    gasLimit: BigInt(fields["gas"]!),
    value: BigInt(fields["value"]!),
    maxFeePerGas: BigInt(fields["maxFeePerGas"]!),
    maxPriorityFeePerGas: BigInt(fields["maxPriorityFeePerGas"]!),
    chainId: BigInt(fields["chainId"]!),
  };
}
