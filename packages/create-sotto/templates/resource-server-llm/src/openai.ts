// The published client of OpenAI, which pays for each of its requests.
import type { PayingFetch } from "@sotto/client";
import OpenAI from "openai";

/** Headers that a request needs. The client adds others, such as its runtime and its version, by which a server could group payers. */
const HEADERS = ["accept", "content-type"];

/** @param baseURL such as http://127.0.0.1:3000/v1 */
export const payingOpenAi = (pay: PayingFetch, baseURL: string): OpenAI =>
  new OpenAI({
    baseURL,
    // The server takes no key: the same one from every payer names nobody.
    apiKey: "none",
    // The paying fetch repeats what can be repeated without another payment.
    maxRetries: 0,
    fetch: (url, init) => {
      const given = new Headers(init?.headers as HeadersInit | undefined);
      const headers = HEADERS.flatMap((name) =>
        given.has(name) ? [[name, given.get(name)!] as [string, string]] : [],
      );
      return pay(url, { ...init, headers });
    },
  });
