import { readFileSync } from "node:fs";
import { join } from "node:path";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { eventually } from "@sotto/test-kit/eventually";
import { rejection } from "@sotto/test-kit/rejection";
import { FAULTS, FORGERIES, RESULTS, Web3Signer } from "@sotto/test-kit/web3-signer";
import { expect } from "chai";
import { Transaction, Wallet } from "ethers";
import { RemoteSigner, SignerClient, type SignerEndpoint, type UnsignedTransaction } from "../../src/signer/index.ts";

const wallet = new Wallet(`0x${"11".repeat(32)}`);
const other = new Wallet(`0x${"22".repeat(32)}`);
const ADDRESS = wallet.address.toLowerCase();
const TRANSACTION: UnsignedTransaction = {
  type: 2,
  chainId: 31337n,
  nonce: 7,
  to: `0x${"ab".repeat(20)}`,
  data: "0xdeadbeef",
  value: 0n,
  gasLimit: 480_000n,
  maxFeePerGas: 40_000_000_000n,
  maxPriorityFeePerGas: 1_000_000_000n,
};

describe("a remote signer", () => {
  let server: Web3Signer;
  const open = (endpoint: Partial<SignerEndpoint> = {}, address = ADDRESS, clock?: () => number) => {
    const client = closedAfterTest(new SignerClient({ url: server.url, timeoutMs: 5_000, ...endpoint }, clock));
    return new RemoteSigner(client, address);
  };
  const fails = async (code: string, signer: RemoteSigner, what = "") => {
    const error = await rejection(signer.signTransaction(TRANSACTION));
    expect(error.code, error.message).to.equal(code);
    expect(error.message).to.include(what);
  };
  beforeEach(async () => {
    server = closedAfterTest(await Web3Signer.start([wallet.privateKey, other.privateKey]));
  });

  it("signs what it is asked to, with another signature each time", async () => {
    const signer = open();
    await signer.check();
    const raws = [await signer.signTransaction(TRANSACTION), await signer.signTransaction(TRANSACTION)];
    expect(new Set(raws).size).to.equal(2);
    for (const raw of raws) {
      const signed = Transaction.from(raw);
      const { type, chainId, nonce, data, value, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = signed;
      const content = { type, chainId, nonce, to: signed.to?.toLowerCase(), data, value, gasLimit };
      expect({ ...content, maxFeePerGas, maxPriorityFeePerGas }).to.deep.equal(TRANSACTION);
      expect(signed.from).to.equal(wallet.address);
    }
    const [from] = server.questions.slice(-1).map(({ params }) => (params[0] as { from: string }).from);
    expect(from).to.equal(ADDRESS);
  });

  for (const forgery of Object.keys(FORGERIES) as (keyof typeof FORGERIES)[])
    it(`is not trusted: another ${forgery} is refused`, async () => {
      server.forgery = forgery;
      await fails("SIGNER_MISMATCH", open(), forgery);
    });

  it("is not trusted: another sender is refused", async () => {
    server.usesOtherKey = true;
    await fails("SIGNER_MISMATCH", open(), "another sender");
  });

  for (const [name, result] of Object.entries(RESULTS))
    it(`is not trusted: ${name} instead of the transaction is refused`, async () => {
      server.result = result;
      await fails("SIGNER_MISMATCH", open());
    });

  for (const fault of Object.keys(FAULTS) as (keyof typeof FAULTS)[])
    it(`is unavailable if it ${fault}, until it no longer does`, async () => {
      const signer = open({ timeoutMs: 300 });
      server.fault = fault;
      await fails("SIGNER_UNAVAILABLE", signer);
      expect((await rejection(signer.check())).code).to.equal("SIGNER_UNAVAILABLE");
      server.fault = undefined;
      expect(Transaction.from(await signer.signTransaction(TRANSACTION)).from).to.equal(wallet.address);
    });

  it("does not follow redirects", async () => {
    server.fault = "redirects";
    await fails("SIGNER_UNAVAILABLE", open(), "HTTP status 307");
    expect(server.questions).to.deep.equal([]);
  });

  it("is unavailable if nothing listens, and works again on the same port", async () => {
    const { port } = server;
    const signer = open();
    await signer.signTransaction(TRANSACTION);
    await server.close();
    await fails("SIGNER_UNAVAILABLE", signer, "cannot be reached");
    closedAfterTest(await Web3Signer.start([wallet.privateKey], { port }));
    await signer.signTransaction(TRANSACTION);
  });

  it("refuses if it has no key of the account, another chain, or no connection to its KMS", async () => {
    const stranger = open({}, Wallet.createRandom().address.toLowerCase());
    await fails("SIGNER_REFUSED", stranger, "error -32000: No unlocked account matches the Sender");
    expect((await rejection(stranger.check())).code).to.equal("SIGNER_REFUSED");
    const signer = open();
    const onOther = { ...TRANSACTION, chainId: 1n };
    expect((await rejection(signer.signTransaction(onOther))).code).to.equal("SIGNER_REFUSED");
    server.cannotSign = true;
    await signer.check();
    await fails("SIGNER_REFUSED", signer);
  });

  it("is asked for its accounts at most once in two seconds", async () => {
    let now = 0;
    const signer = open({}, ADDRESS, () => now);
    await Promise.all([signer.check(), signer.check()]);
    now += 1_999;
    await signer.check();
    expect(server.questions).to.have.length(1);
    now += 1;
    await Promise.all([signer.check(), signer.check()]);
    await eventually(async () => server.questions.length === 2);
  });

  it("delays nobody who asks whether it works, while it hangs for less than 30 s", async () => {
    let now = 0;
    const signer = open({ timeoutMs: 60_000 }, ADDRESS, () => now);
    await signer.check();
    server.fault = "hangs";
    now += 29_999;
    await signer.check();
    // The last response is too old.
    now += 1;
    let done = false;
    const checking = rejection(signer.check()).finally(() => {
      done = true;
    });
    await new Promise(setImmediate);
    expect(done).to.equal(false);
    await server.close();
    expect((await checking).code).to.equal("SIGNER_UNAVAILABLE");
  });

  it("gets user and password of its URL as basic authentication, which no error shows", async () => {
    const [user, password] = ["relayer", "canary%20secret"];
    server.authorization = `Basic ${Buffer.from("relayer:canary secret").toString("base64")}`;
    const url = server.url.replace("//", `//${user}:${password}@`);
    await open({ url }).signTransaction(TRANSACTION);
    const wrong = open({ url: url.replace("relayer", "other") });
    const error = await rejection(wrong.signTransaction(TRANSACTION));
    expect(error.code).to.equal("SIGNER_UNAVAILABLE");
    expect(error.message).to.include("HTTP status 401").and.not.include("canary");
  });

  describe("over TLS", () => {
    const [ca, certificate, certificateKey, cert, key] = [
      "ca.pem",
      "client.pem",
      "client-key.pem",
      "signer.pem",
      "signer-key.pem",
    ].map((name) => readFileSync(join(import.meta.dirname, "fixtures", name), "utf8"));
    beforeEach(async () => {
      const tls = { ca: ca!, cert: cert!, key: key!, requestCert: true, rejectUnauthorized: true };
      server = closedAfterTest(await Web3Signer.start([wallet.privateKey], { tls }));
    });
    const secure = (endpoint: Partial<SignerEndpoint>) =>
      open({ url: `https://127.0.0.1:${server.port}`, ...endpoint });

    it("is checked with the given certificates, and shown the client's", async () => {
      const raw = await secure({ ca, certificate, certificateKey }).signTransaction(TRANSACTION);
      expect(Transaction.from(raw).from).to.equal(wallet.address);
    });

    it("is unavailable if its certificate is unknown, or the client has none that it knows", async () => {
      await fails("SIGNER_UNAVAILABLE", secure({ certificate, certificateKey }));
      await fails("SIGNER_UNAVAILABLE", secure({ ca }));
      expect(server.questions).to.deep.equal([]);
    });
  });
});
