import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { DepositRequest, WithdrawalCall } from "@sotto/client";
import type { WireBundle } from "@sotto/protocol";
import { expect } from "chai";
import { rejected } from "../../lib/test/rejected.ts";
import { ServiceClient } from "../service-client.ts";

/** Only that they are handed on matters here; what a service says to real ones, the demo itself shows. */
const request = { from: "0x12" } as unknown as DepositRequest;
const call = { fee: "1" } as unknown as WithdrawalCall;
const bundle = { proof: ["1"], resourceUrl: "https://a.example/", timestamp: 5 } as unknown as WireBundle;

describe("demo client of the service", () => {
  let server: Server;
  let client: ServiceClient;
  let asked: string[];
  let answers: [status: number, body: unknown][];

  beforeEach(async () => {
    asked = [];
    answers = [];
    server = createServer(async (incoming, response) => {
      let body = "";
      for await (const chunk of incoming) body += String(chunk);
      asked.push(`${incoming.method} ${incoming.url} ${body}`.trim());
      const [status, answer] = answers.shift() ?? [500, "nothing prepared"];
      response
        .writeHead(status, { "content-type": "application/json", "retry-after": "0" })
        .end(JSON.stringify(answer));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    client = new ServiceClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}/zk`);
  });
  const end = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  afterEach(end);

  it("hands in what it is given and returns the transaction", async () => {
    answers.push([200, { status: "success", txSignature: "0xaa" }], [200, { status: "success", txSignature: "0xbb" }]);
    expect(await client.deposit(request)).to.equal("0xaa");
    expect(await client.withdraw(call)).to.equal("0xbb");
    expect(asked).to.deep.equal(['POST /zk/deposit {"from":"0x12"}', 'POST /zk/withdraw {"fee":"1"}']);
  });

  it("settles with the token of verify and no field more than the interface names", async () => {
    answers.push([200, { valid: true, paymentToken: "a.b.c", expiresIn: 9 }]);
    answers.push([200, { status: "success", txSignature: "0xcc" }]);
    const { token, expiresIn } = await client.verify(bundle);
    expect([token, expiresIn]).to.deep.equal(["a.b.c", 9]);
    expect(await client.settle(bundle, token)).to.equal("0xcc");
    expect(asked[1]).to.equal('POST /zk/settle {"proof":["1"],"paymentToken":"a.b.c","resource":"https://a.example/"}');
  });

  it("asks again for what is pending, where it is told to", async () => {
    const pending = { status: "pending", txSignature: "0x01", statusUrl: "/zk/settle/7" };
    answers.push([202, pending], [202, pending], [200, { status: "success", txSignature: "0x02" }]);
    expect(await client.withdraw(call)).to.equal("0x02");
    expect(asked.slice(1)).to.deep.equal(["GET /zk/settle/7", "GET /zk/settle/7"]);
  });

  it("comes back to a service that is busy", async () => {
    answers.push([503, { code: "OVERLOADED", message: "try again" }]);
    answers.push([200, { status: "success", txSignature: "0xdd" }]);
    expect(await client.deposit(request)).to.equal("0xdd");
    expect(asked).to.have.lengthOf(2);
    expect(asked[0]).to.equal(asked[1]);
  });

  it("says why a payment is not valid, not settled or refused, and when nobody answers", async () => {
    answers.push([200, { valid: false, paymentToken: "", reason: "UNKNOWN_ROOT", message: "no such root" }]);
    expect(await rejected("PAYMENT_INVALID", () => client.verify(bundle))).to.equal("UNKNOWN_ROOT: no such root");
    answers.push([200, { status: "failed", txSignature: "0x", reason: "EXPIRED" }]);
    expect(await rejected("NOT_SETTLED", () => client.deposit(request))).to.contain("EXPIRED");
    answers.push([429, { error: "Too Many Requests", message: "wait", code: "QUOTA_EXCEEDED" }]);
    expect(await rejected("SERVICE_REFUSED", () => client.deposit(request))).to.match(/429 QUOTA_EXCEEDED: wait$/);
    await end();
    expect(await rejected("SERVICE_UNREACHABLE", () => client.deposit(request))).to.contain("/zk/deposit");
  });
});
