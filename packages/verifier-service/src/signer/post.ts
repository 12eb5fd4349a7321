import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { SignerError } from "./errors.ts";

/** Maximum size of a response. Nodes accept transactions of at most 128 KiB, which are twice as long in hex. */
const MAX_RESPONSE_BYTES = 512 * 1024;

/** A remote signer's address, and how to connect to it. */
export interface SignerEndpoint {
  /** http or https. It may contain a user and a password, which are sent as basic authentication. */
  readonly url: string;
  /** Timeout of one request, ms. */
  readonly timeoutMs: number;
  /** PEM of the certificates that the signer's certificate is checked with. Default: the system's. */
  readonly ca?: string | undefined;
  /** PEM of the certificate, with its chain, that the service shows to the signer. */
  readonly certificate?: string | undefined;
  /** PEM of the certificate's private key. */
  readonly certificateKey?: string | undefined;
}

/** An HTTP response of the signer. */
export interface SignerResponse {
  readonly status: number;
  readonly text: string;
}

/** HTTP requests to one signer. fetch cannot show a certificate of the client, so this uses Node's own client. */
export class SignerConnection {
  /** The signer's host only, because the rest of the URL may contain credentials. */
  readonly name: string;
  readonly #url: URL;
  readonly #timeoutMs: number;
  readonly #agent: HttpAgent;

  constructor({ url, timeoutMs, ca, certificate, certificateKey }: SignerEndpoint) {
    this.#url = new URL(url);
    this.name = this.#url.host;
    this.#timeoutMs = timeoutMs;
    const tls = { ca, cert: certificate, key: certificateKey };
    this.#agent =
      this.#url.protocol === "https:"
        ? new HttpsAgent({ keepAlive: true, ...tls })
        : new HttpAgent({ keepAlive: true });
  }

  /**
   * Posts a JSON text. Redirects are not followed.
   * @throws SignerError SIGNER_UNAVAILABLE
   */
  async post(body: string): Promise<SignerResponse> {
    const signal = AbortSignal.timeout(this.#timeoutMs);
    try {
      return await this.#send(body, signal).catch((error: unknown) => {
        // The signer closed the idle connection when it was used again.
        if (error instanceof StaleConnection) return this.#send(body, signal);
        throw error;
      });
    } catch (cause) {
      if (cause instanceof SignerError) throw cause;
      const what = signal.aborted ? `did not respond within ${this.#timeoutMs} ms` : "cannot be reached";
      throw this.unavailable(what, cause);
    }
  }

  /** The error for a signer that does not work. @param what completes "the signer HOST" */
  unavailable(what: string, cause?: unknown): SignerError {
    return new SignerError("SIGNER_UNAVAILABLE", `the signer ${this.name} ${what}`, {}, { cause });
  }

  /** Closes its connections. */
  close(): void {
    this.#agent.destroy();
  }

  #send(body: string, signal: AbortSignal): Promise<SignerResponse> {
    return new Promise((resolve, reject) => {
      const send = this.#url.protocol === "https:" ? httpsRequest : httpRequest;
      const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
      let responds = false;
      const request = send(this.#url, { method: "POST", agent: this.#agent, headers, signal }, (response) => {
        responds = true;
        this.#read(response).then(resolve, (error: unknown) => {
          request.destroy();
          reject(error);
        });
      });
      request.on("error", (error: NodeJS.ErrnoException) => {
        const stale = request.reusedSocket && error.code === "ECONNRESET" && !signal.aborted;
        reject(stale ? new StaleConnection() : error);
      });
      // Node reports neither a response nor an error if the signer switches protocols (101).
      request.on("close", () => {
        if (!responds) reject(new Error("the connection was closed without a response"));
      });
      request.end(body);
    });
  }

  async #read(response: IncomingMessage): Promise<SignerResponse> {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_RESPONSE_BYTES) throw this.unavailable(`sent more than ${MAX_RESPONSE_BYTES} bytes`);
      chunks.push(chunk);
    }
    return { status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") };
  }
}

class StaleConnection extends Error {}
