import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { DepositRequest } from "@sotto/chain/ethers";
import { DEPLOYMENT_CONTRACTS, type WireBundle, type WithdrawalCall } from "@sotto/protocol";
import { rejection, thrown } from "@sotto/test-kit/rejection";
import { SottoService } from "@sotto/wallet";
import { expect } from "chai";

/** Placeholders: these tests check only that they are forwarded. test/client and test/web use real requests. */
const request = { from: "0x12", validBefore: "99999999999" } as unknown as DepositRequest;
const call = { fee: "1", validUntil: "99999999999" } as unknown as WithdrawalCall;
const bundle = {
  proof: ["1"],
  resourceUrl: "https://a.example/",
  // Read by each test, because minutes may pass between loading the file and its tests.
  get timestamp() {
    return Date.now();
  },
} as unknown as WireBundle;

const HASH = (digit: string) => `0x${digit.repeat(64)}`;
const success = (digit: string) => ({
  status: "success",
  txSignature: HASH(digit),
  blockNumber: 7,
  gasFeePaidBy: `0x${"fe".repeat(20)}`,
});
const valid = { valid: true, paymentToken: "a.b.c", expiresIn: 9 };

type Handler = (incoming: IncomingMessage, response: ServerResponse, body: string) => void;

describe("SottoService", () => {
  let server: Server;
  let service: SottoService;
  let asked: string[];
  let answers: ([status: number, body: unknown] | Handler)[];

  beforeEach(async () => {
    asked = [];
    answers = [];
    server = createServer(async (incoming, response) => {
      let body = "";
      for await (const chunk of incoming) body += String(chunk);
      asked.push(`${incoming.method} ${incoming.url} ${body}`.trim());
      const next = answers.shift() ?? [500, "nothing prepared"];
      if (typeof next === "function") return next(incoming, response, body);
      const [status, answer] = next;
      response
        .writeHead(status, { "content-type": "application/json", "retry-after": "0" })
        .end(typeof answer === "string" ? answer : JSON.stringify(answer));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    service = new SottoService(url());
  });
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/zk/`;
  const end = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  afterEach(end);

  it("submits the request and returns the transaction", async () => {
    answers.push([200, success("a")], [200, { ...success("b"), id: "x-1" }]);
    expect((await service.deposit(request)).txSignature).to.equal(HASH("a"));
    expect(await service.withdraw(call)).to.include({ txSignature: HASH("b"), blockNumber: 7, id: "x-1" });
    const bodies = [request, call].map((body) => JSON.stringify(body));
    expect(asked).to.deep.equal([`POST /zk/deposit ${bodies[0]}`, `POST /zk/withdraw ${bodies[1]}`]);
  });

  it("settles with the token from verify, and sends exactly the fields of the interface", async () => {
    answers.push([200, valid], [200, success("c")]);
    const { paymentToken, expiresIn } = await service.verify(bundle);
    expect([paymentToken, expiresIn]).to.deep.equal(["a.b.c", 9]);
    expect((await service.settle(bundle, paymentToken)).txSignature).to.equal(HASH("c"));
    expect(asked[1]).to.equal('POST /zk/settle {"proof":["1"],"paymentToken":"a.b.c","resource":"https://a.example/"}');
  });

  it("posts to an endpoint of an extension, and returns its answer", async () => {
    answers.push([200, { any: "thing" }], [409, { code: "CONFLICT", message: "another" }]);
    expect(await service.post("extension/path", { a: 1 })).to.deep.equal({ any: "thing" });
    expect(asked).to.deep.equal(['POST /zk/extension/path {"a":1}']);
    const conflict = await rejection(service.post("extension/path", { a: 1 }));
    expect([conflict.code, conflict.details.reason]).to.deep.equal(["SERVICE_REFUSED", "CONFLICT"]);
  });

  it("validates the pool's manifest strictly", async () => {
    const address = `0x${"5f".repeat(20)}`;
    const contract = { address, codeHash: HASH("1") };
    const manifest = {
      version: 1,
      network: "local",
      set: "development",
      chainId: 31337,
      pool: address,
      token: address,
      deploymentBlock: 0,
      smallestDeposit: "1",
      contracts: Object.fromEntries(DEPLOYMENT_CONTRACTS.map((name) => [name, contract])),
      verificationKeys: { payment: "0".repeat(64) },
    };
    answers.push([200, { ...manifest, unknown: 1 }], [200, { ...manifest, pool: "0x12" }]);
    expect(await service.deployment()).to.deep.equal({ ...manifest, finality: undefined });
    expect(asked).to.deep.equal(["GET /zk/deployment"]);
    const error = await rejection(service.deployment());
    expect(error.code).to.equal("SERVICE_ANSWER_INVALID");
    expect(error.message).to.include("pool");
  });

  it("polls a pending settlement at the allowed base URL, never at a URL from a response", async () => {
    const pending = { status: "pending", txSignature: HASH("1"), id: "7", statusUrl: "https://evil.example/settle/7" };
    answers.push([202, pending], [202, pending], [200, success("2")]);
    const seen: unknown[] = [];
    const settlement = await service.withdraw(call, { onPending: ({ id }) => void seen.push(id) });
    expect(settlement.txSignature).to.equal(HASH("2"));
    expect(asked.slice(1)).to.deep.equal(["GET /zk/settle/7", "GET /zk/settle/7"]);
    expect(seen).to.deep.equal(["7", "7"]);
  });

  it("submits again if a pending response has no id", async () => {
    answers.push([200, { status: "pending", txSignature: "0x" }], [200, success("2")]);
    expect((await service.deposit(request)).txSignature).to.equal(HASH("2"));
    expect(asked[0]).to.equal(asked[1]);
  });

  it("asks for asynchronous responses, and retries after a proxy's timeout", async () => {
    const preferences: unknown[] = [];
    const note =
      (status: number, body: object): Handler =>
      (incoming, response) => {
        preferences.push(incoming.headers["prefer"]);
        response
          .writeHead(status, { "content-type": "application/json", "retry-after": "0" })
          .end(JSON.stringify(body));
      };
    const pending = { status: "pending", txSignature: HASH("1"), id: "7" };
    answers.push(note(504, {}), note(502, {}), note(202, pending), note(504, {}), note(200, success("2")));
    expect((await service.settle(bundle, "a.b.c")).txSignature).to.equal(HASH("2"));
    const asks = "respond-async, wait=20";
    expect(preferences).to.deep.equal([asks, asks, asks, undefined, undefined]);
  });

  it("stops polling when the deadline has passed", async () => {
    answers.push([202, { status: "pending", txSignature: HASH("1"), id: "7" }]);
    const error = await rejection(service.settle({ ...bundle, timestamp: Date.now() - 400_000 }, "a.b.c"));
    expect(error.code).to.equal("SETTLEMENT_PENDING");
    expect(error.details).to.deep.equal({ id: "7", txSignature: HASH("1") });
  });

  it("retries a busy or briefly unreachable service", async () => {
    answers.push([503, { code: "OVERLOADED", message: "try again" }], [200, success("d")]);
    expect((await service.deposit(request)).txSignature).to.equal(HASH("d"));
    answers.push((incoming) => void incoming.socket.destroy(), [200, success("e")]);
    expect((await service.deposit(request)).txSignature).to.equal(HASH("e"));
    expect(asked).to.have.lengthOf(4);
    expect(new Set(asked).size).to.equal(1);
  });

  it("reports why a payment is invalid, unsettled or refused, and that the service is unreachable", async () => {
    answers.push([200, { valid: false, paymentToken: "", reason: "UNKNOWN_ROOT", message: "no such root" }]);
    const invalid = await rejection(service.verify(bundle));
    expect(invalid).to.include({ code: "PAYMENT_INVALID", message: "UNKNOWN_ROOT: no such root" });
    expect(invalid.details).to.deep.equal({ reason: "UNKNOWN_ROOT" });
    answers.push([200, { status: "failed", txSignature: "0x", reason: "EXPIRED", id: "9" }]);
    const failed = await rejection(service.deposit(request));
    expect(failed).to.deep.include({ code: "NOT_SETTLED", details: { reason: "EXPIRED", id: "9" } });
    answers.push([429, { error: "Too Many Requests", message: "wait", code: "QUOTA_EXCEEDED" }]);
    const refused = await rejection(service.deposit(request));
    expect(refused.details).to.deep.equal({ status: 429, reason: "QUOTA_EXCEEDED", retryAfter: 0 });
    await end();
    expect((await rejection(service.deposit(request))).code).to.equal("SERVICE_UNREACHABLE");
  });

  it("stops immediately on abort, also while waiting", async () => {
    const reason = new Error("enough");
    const answer: Handler = (_, response) =>
      void response.writeHead(503, { "retry-after": "20", "content-type": "application/json" }).end("{}");
    for (const [prepared, status] of [
      [() => undefined, undefined],
      [[202, { status: "pending", txSignature: "0x", id: "7" }], 202],
      [answer, 503],
    ] as const) {
      answers = [prepared as Handler];
      asked = [];
      const abort = new AbortController();
      let received: number | undefined;
      // The response is complete before the client receives it, so the abort happens during the wait.
      const send: typeof fetch = async (input, init) => {
        const response = await fetch(input, init);
        const whole = new Response(await response.text(), { status: response.status, headers: response.headers });
        received = response.status;
        return whole;
      };
      const patient = new SottoService(url(), { fetch: send });
      const settling = patient.deposit(request, { signal: abort.signal }).catch((error: unknown) => error);
      while (asked.length === 0 || received !== status) await new Promise(setImmediate);
      for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
      abort.abort(reason);
      expect(await settling).to.equal(reason);
      expect(asked).to.have.lengthOf(1);
    }
  });

  it("does not follow redirects", async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      answers.push((_, response) => void response.writeHead(status, { location: "/elsewhere" }).end());
      expect((await rejection(service.verify(bundle))).code).to.equal("SERVICE_REDIRECTED");
    }
    expect(asked.some((line) => line.includes("elsewhere"))).to.equal(false);
  });

  it("respects its timeout", async () => {
    service = new SottoService(url(), { timeoutMs: 200 });
    answers.push(() => undefined);
    expect((await rejection(service.verify(bundle))).code).to.equal("SERVICE_TIMEOUT");
    // The timeout also applies to a body that never ends.
    answers.push((_, response) => void response.writeHead(200).write("{"));
    expect((await rejection(service.verify(bundle))).code).to.equal("SERVICE_TIMEOUT");
  });

  it("rejects responses that violate the interface", async () => {
    const long = "x".repeat(5_000);
    for (const answer of [
      "",
      "no JSON",
      "[]",
      "null",
      "42",
      {},
      { ...valid, valid: "true" },
      { ...valid, paymentToken: undefined },
      { ...valid, paymentToken: "a.b" },
      { ...valid, paymentToken: "a.b.c\r\nx: y" },
      { ...valid, paymentToken: `${long}.b.c` },
      { ...valid, expiresIn: "300" },
      { ...valid, expiresIn: -1 },
      { ...valid, expiresIn: 1.5 },
      { ...valid, padding: long.repeat(20) },
    ]) {
      answers.push([200, answer]);
      expect((await rejection(service.verify(bundle))).code, JSON.stringify(answer).slice(0, 80)).to.equal(
        "SERVICE_ANSWER_INVALID",
      );
    }
    const good = success("a");
    for (const answer of [
      {},
      { ...good, status: 1 },
      { ...good, txSignature: "0x12" },
      { ...good, txSignature: HASH("A") },
      { ...good, blockNumber: "7" },
      { ...good, blockNumber: -1 },
      { ...good, gasFeePaidBy: 7 },
      { ...good, id: "../../x" },
      { ...good, id: 7 },
    ]) {
      answers.push([200, answer]);
      expect((await rejection(service.deposit(request))).code, JSON.stringify(answer)).to.equal(
        "SERVICE_ANSWER_INVALID",
      );
    }
    // According to the interface, any other status is a failed settlement.
    answers.push([200, { ...good, status: "settled" }]);
    expect((await rejection(service.deposit(request))).code).to.equal("NOT_SETTLED");
  });

  it("passes on only the code and one line of an error response", async () => {
    answers.push([400, { code: "x\ny", message: `a\r\nb\u001b[31m${"c".repeat(900)}` }]);
    const error = await rejection(service.verify(bundle));
    expect(error.details).to.deep.include({ status: 400, reason: "NO_CODE" });
    expect(error.message).to.match(/^[\x20-\x7e]{1,320}$/);
  });

  it("reads a phone mapping, and never puts the number into an error", async () => {
    const mapping = {
      wallet: `0x${"ab".repeat(20)}`,
      phoneHash: "12",
      encryptedMapping: true,
      verified: true,
      more: 1,
    };
    answers.push([200, mapping]);
    expect(await service.resolve("+4915112345678")).to.deep.include({ wallet: mapping.wallet, fields: mapping });
    expect(asked[0]).to.equal("GET /zk/phone/resolve/%2B4915112345678");
    answers.push([404, { code: "UNKNOWN", message: "nobody" }], [200, { ...mapping, wallet: "0x12" }]);
    for (const code of ["SERVICE_REFUSED", "SERVICE_ANSWER_INVALID"]) {
      const error = await rejection(service.resolve("+4915112345678"));
      expect(error.code).to.equal(code);
      expect(error.message).to.not.include("49151");
    }
  });

  it("contacts only allowed services with valid base URLs", () => {
    const allow = ["https://pay.example/zk/", "http://127.0.0.1:8402/zk"];
    for (const url of ["https://pay.example/zk", "https://PAY.example:443/zk/", "http://127.0.0.1:8402/zk"])
      expect(new SottoService(url, { allow }).url).to.match(/^https?:\/\/[a-z0-9.:]+\/zk$/);
    for (const url of [
      "https://pay.example/zk2",
      "https://pay.example",
      "http://pay.example/zk",
      "https://pay.example.evil/zk",
      "https://pay.example@evil.example/zk",
      "https://pay.example/zk?x",
      "https://pay.example/zk#x",
      "ftp://pay.example/zk",
      "/zk",
      "",
      undefined as unknown as string,
    ])
      expect(thrown(() => new SottoService(url, { allow })).code, String(url)).to.equal("SERVICE_NOT_ALLOWED");
  });

  it("requires https for remote services, except on a local chain", () => {
    const refused = [
      "http://pay.example/zk",
      "http://10.0.0.7:8402/zk",
      "http://service/zk",
      "http://127.0.0.1.evil.example",
    ];
    for (const url of refused)
      for (const options of [{}, { chainId: 8453n }, { allow: [url] }]) {
        const error = thrown(() => new SottoService(url, options));
        expect(error.code, url).to.equal("SERVICE_NOT_SECURE");
      }
    for (const url of refused) expect(new SottoService(url, { chainId: 31337n }).url).to.equal(url);
    for (const url of ["https://pay.example", "http://127.0.0.1:8402/zk", "http://localhost/zk", "http://[::1]:8402"])
      expect(new SottoService(url, { chainId: 8453n }).url).to.equal(url);
  });
});
