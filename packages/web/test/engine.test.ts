// Parts of the wallet's worker that need no browser.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buildInstructions, deriveKeys, formatViewingKeys } from "@sotto/protocol";
import { expectCode, expectRejected } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { instructions, options } from "../../protocol/test/support/instructions.ts";
import type { Context } from "../src/engine/context.ts";
import { assertResource, fetchForMerchant, instructionsOf, urlOf } from "../src/engine/instructions.ts";
import { ask } from "../src/engine/requests.ts";
import { parseSealed, seal } from "../src/engine/vault.ts";
import { openViewingKeys } from "../src/engine/viewing-key.ts";
import { readAmount } from "../src/lib/amount.ts";

const POOL = `0x${"5a".repeat(20)}` as const;

describe("the wallet's worker", () => {
  describe("paying a merchant", () => {
    const { wallet } = instructions.payment.recipient;
    let server: Server;
    let url: string;
    let body: unknown;
    beforeEach(async () => {
      body = instructions;
      server = createServer((_, response) => response.writeHead(402).end(JSON.stringify(body)));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    });
    afterEach(() => {
      server.closeAllConnections();
      server.close();
    });

    it("accepts a 402 only if it names the wallet that the user saw", async () => {
      const response = await fetchForMerchant(wallet)(url);
      expect(await response.json()).to.deep.equal(JSON.parse(JSON.stringify(instructions)));
      const error = await expectRejected("TERMS_CHANGED", () => fetchForMerchant(`0x${"11".repeat(20)}`)(url));
      expect(error.details).to.deep.equal({ known: `0x${"11".repeat(20)}`, offered: wallet });
    });

    it("accepts terms only for the URL that sent them", async () => {
      const terms = async (resource: string) => {
        body = buildInstructions({ ...options, resource });
        const response = await fetch(`${url}#part`);
        return [await instructionsOf(response.clone()), response] as const;
      };
      assertResource(...(await terms(url)));
      for (const other of [`${url}other`, `${url}#part`, "https://news.example/", "http://127.0.0.1/"]) {
        const [found, response] = await terms(other);
        expectCode("NOT_PAYABLE", () => assertResource(found, response));
      }
    });

    it("shows no price if the offer of tokens is malformed, because paying would fail", async () => {
      const service = "http://127.0.0.1/zk";
      const pool = { chainId: options.binding.chainId, pool: options.binding.pool, token: options.asset };
      const wallet = { pool, balance: () => ({ spendable: 0n }) };
      const context = { wallet, config: { service }, limits: {} } as unknown as Context;
      const terms = buildInstructions({ ...options, serviceUrl: service, resource: url });
      const offered = async (prepaid: object | undefined) => {
        body = { ...terms, payment: { ...terms.payment, prepaid } };
        const answer = await ask(context, 0n, url);
        return answer.kind === "quote" && answer.quote.tokens;
      };
      const offer = { tokenKeyId: `0x${"11".repeat(32)}`, value: String(options.price) };
      expect(await offered(offer)).to.equal(true);
      expect(await offered(undefined)).to.equal(false);
      await expectRejected("CHALLENGE_INVALID", () => offered({ ...offer, value: "1" }));
    });

    it("refuses a 402 without terms, except as the response to a proof", async () => {
      body = { error: "Invalid payment proof" };
      await expectRejected("NOT_PAYABLE", () => fetchForMerchant(wallet)(url));
      const headers = { "X-Payment-Proof": "{}" };
      expect((await fetchForMerchant(wallet)(url, { headers })).status).to.equal(402);
    });
  });

  it("ignores invisible characters around what the user pastes, and names one within it", () => {
    const url = "https://news.example/report";
    for (const typed of [url, `\u202a${url}\u202c`, `\ufeff ${url}\u200b\n`]) expect(urlOf(typed).href).to.equal(url);
    for (const typed of [`${url}\u200bs`, "https://news\u00ad.example/", `\u202e${url}`])
      expect(expectCode("NOT_PAYABLE", () => urlOf(typed)).message).to.match(/contains U\+/);

    expect(readAmount("\u202a1.25\u202c")).to.equal(1_250_000n);
    expectCode("INVALID_AMOUNT", () => readAmount("1\u200b25"));

    const keys = deriveKeys(new Uint8Array(32).fill(7), { chainId: 1n, pool: POOL });
    const lasting = { viewingKey: keys.viewingKey, shieldedAddress: keys.shieldedAddress() };
    const parsed = { ownerTag: keys.ownerTag(0), keys: [lasting] };
    const text = formatViewingKeys(parsed, { chainId: 1, pool: POOL });
    for (const pasted of [text, `\ufeff${text}\u200b\n`])
      expect(openViewingKeys(pasted, { chainId: 1, pool: POOL })).to.deep.equal(parsed);
    const broken = text.replace("0x", "0x\u200b");
    expectCode("VIEWING_KEY_INVALID", () => openViewingKeys(broken, { chainId: 1, pool: POOL }));
  });

  it("reports a vault or backup with malformed texts as damaged", async () => {
    const sealed = await seal("text", "a long passphrase");
    expect(parseSealed(sealed, "VAULT_DAMAGED")).to.deep.equal(sealed);
    const broken = [undefined, 5, "", "A", "AAAAA", "=", "A===", "AA=A", "\u00e4AAA", `${sealed.salt}\n`];
    for (const field of ["salt", "nonce", "data"])
      for (const text of broken)
        expectCode("BACKUP_DAMAGED", () => parseSealed({ ...sealed, [field]: text }, "BACKUP_DAMAGED"));
  });
});
