// The service with a remote signer instead of the relayer's key.
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { eventually } from "@sotto/test-kit/eventually";
import { call, post } from "@sotto/test-kit/http";
import { slow } from "@sotto/test-kit/slow";
import { Web3Signer } from "@sotto/test-kit/web3-signer";
import { forgeBundle, settleRequest } from "@sotto/test-world/bundles";
import { openService, openWorld, relayerKey, type TestService, type World } from "@sotto/test-world/service";
import { expect } from "chai";
import { Wallet } from "ethers";

const SECRET = "a secret of 32 characters or more";

describe("a service with a remote signer", function () {
  slow(this, "a chain, services and proofs");
  let world: World;
  let signer: Web3Signer;
  let account: string;
  before(async () => {
    world = await openWorld();
  });
  beforeEach(async () => {
    const key = relayerKey();
    account = new Wallet(key).address.toLowerCase();
    signer = closedAfterTest(await Web3Signer.start([key]));
  });

  const open = async (settings: Record<string, string> = { SOTTO_SIGNER_URL: signer.url }): Promise<TestService> =>
    closedAfterTest(
      await openService({
        SOTTO_RELAYER_KEY: "",
        SOTTO_SIGNER_ACCOUNTS: account,
        SOTTO_SIGNER_TIMEOUT_MS: "500",
        SOTTO_CLIENT_SECRET: SECRET,
        ...settings,
      }),
    );
  const verify = async (service: TestService) => {
    const bundle = forgeBundle(world, { root: world.root });
    const { status, body } = await post(`${service.url}/verify`, bundle);
    expect(status, JSON.stringify(body)).to.equal(200);
    return { bundle, request: settleRequest(bundle, body["paymentToken"]) };
  };
  const checkOf = async (service: TestService) =>
    ((await call(`${service.url}/readyz`)).body["checks"] as Record<string, unknown>)["signer"];
  const failures = async (service: TestService, code: string) => {
    const text = await (await fetch(service.metricsUrl)).text();
    return Number(new RegExp(`sotto_relayer_errors_total\\{code="${code}"\\} (\\d+)`).exec(text)?.[1]);
  };
  const nonceOf = () => world.provider.getTransactionCount(account);

  it("settles payments with signatures of the signer", async () => {
    const service = await open();
    expect(service.relayer).to.equal(account);
    const { request } = await verify(service);
    const { body } = await post(`${service.url}/settle`, request);
    expect(body).to.include({ status: "success", gasFeePaidBy: account });
    const transaction = await world.provider.getTransaction(String(body["txSignature"]));
    expect(transaction?.from.toLowerCase()).to.equal(account);
    // Each signature is another one, so what was sent was signed once.
    expect(signer.signatures).to.equal(1);
  });

  for (const [name, code, fail] of [
    ["hangs", "SIGNER_UNAVAILABLE", () => (signer.fault = "hangs")],
    ["loses its KMS", "SIGNER_REFUSED", () => (signer.cannotSign = true)],
    ["signs with another nonce", "SIGNER_MISMATCH", () => (signer.forgery = "nonce")],
    ["signs for another recipient", "SIGNER_MISMATCH", () => (signer.forgery = "recipient")],
  ] as const)
    it(`keeps a payment in the queue while the signer ${name}, and then sends it once`, async () => {
      const service = await open();
      const { request } = await verify(service);
      const nonce = await nonceOf();
      fail();
      const settling = post(`${service.url}/settle`, request);
      await eventually(async () => (await failures(service, code)) > 0);
      await eventually(async () => JSON.stringify(await checkOf(service)) === JSON.stringify({ ok: false, code }));
      const refused = await post(`${service.url}/verify`, forgeBundle(world, { root: world.root }));
      expect([refused.status, refused.body["code"]]).to.deep.equal([503, code]);
      expect(await nonceOf()).to.equal(nonce);
      Object.assign(signer, { fault: undefined, cannotSign: false, forgery: undefined });
      expect((await settling).body).to.include({ status: "success", gasFeePaidBy: account });
      expect(await nonceOf()).to.equal(nonce + 1);
      await eventually(async () => JSON.stringify(await checkOf(service)) === JSON.stringify({ ok: true }));
      await verify(service);
    });

  it("starts while the signer is down, and is ready once it is up", async () => {
    const { port, url } = signer;
    const key = relayerKey();
    await signer.close();
    const service = await open({ SOTTO_SIGNER_URL: url, SOTTO_SIGNER_ACCOUNTS: new Wallet(key).address });
    expect(await checkOf(service)).to.deep.equal({ ok: false, code: "SIGNER_UNAVAILABLE" });
    closedAfterTest(await Web3Signer.start([key], { port }));
    await eventually(async () => (await call(`${service.url}/readyz`)).status === 200);
  });

  it("is not ready if the signer has no key of the account", async () => {
    const stranger = Wallet.createRandom().address;
    const service = await open({ SOTTO_SIGNER_URL: signer.url, SOTTO_SIGNER_ACCOUNTS: stranger });
    expect(await checkOf(service)).to.deep.equal({ ok: false, code: "SIGNER_REFUSED" });
  });

  it("sends from the account of a key while the signer is down, and names the other one", async () => {
    const key = relayerKey();
    const own = new Wallet(key).address.toLowerCase();
    const service = await open({ SOTTO_RELAYER_KEY: key, SOTTO_SIGNER_URL: signer.url, SOTTO_WITHDRAWAL_FEE: "7" });
    expect([service.relayer, service.relayers]).to.deep.equal([own, [own, account]]);
    const supported = await call(`${service.url}/supported`);
    expect(supported.body["signers"]).to.deep.equal({ "eip155:*": [own, account] });
    await eventually(async () => (await call(`${service.url}/readyz`)).status === 200);
    signer.fault = "breaksOff";
    const faults = { [account]: "SIGNER_UNAVAILABLE" };
    await eventually(async () => JSON.stringify(await checkOf(service)) === JSON.stringify({ ok: true, faults }));
    expect((await call(`${service.url}/readyz`)).status).to.equal(200);
    for (let i = 0; i < 3; i += 1) {
      const { request } = await verify(service);
      const { body } = await post(`${service.url}/settle`, request);
      expect(body).to.include({ status: "success", gasFeePaidBy: own });
    }
    const fault = `sotto_relayer_account_fault{account="${account}",code="SIGNER_UNAVAILABLE"} 1`;
    await eventually(async () => (await (await fetch(service.metricsUrl)).text()).includes(fault));
  });

  it("pays a settlement's gas from the account that the response names", async () => {
    const key = relayerKey();
    const service = await open({ SOTTO_RELAYER_KEY: key, SOTTO_SIGNER_URL: signer.url });
    const requests = [];
    for (let i = 0; i < 12; i += 1) requests.push((await verify(service)).request);
    const settled = await Promise.all(
      requests.map(async (request) => (await post(`${service.url}/settle`, request)).body),
    );
    for (const body of settled) {
      const transaction = await world.provider.getTransaction(String(body["txSignature"]));
      expect(body).to.include({ status: "success", gasFeePaidBy: transaction?.from.toLowerCase() });
    }
  });

  it("shows the credentials in the signer's URL to nobody", async () => {
    signer.authorization = "Basic Y2FuYXJ5OnNlY3JldA==";
    const service = await open({ SOTTO_SIGNER_URL: signer.url.replace("//", "//canary:secret@") });
    const { request } = await verify(service);
    signer.fault = "isABadGateway";
    const settling = post(`${service.url}/settle`, request);
    await eventually(async () => (await failures(service, "SIGNER_UNAVAILABLE")) > 0);
    const shown = [
      await (await fetch(service.metricsUrl)).text(),
      JSON.stringify((await call(`${service.url}/readyz`)).body),
    ];
    signer.fault = undefined;
    expect((await settling).body["status"]).to.equal("success");
    for (const text of [...shown, ...service.logged]) expect(text).to.not.match(/canary|secret@|Y2FuYXJ5/);
    expect(service.logged.join("")).to.include("SIGNER_UNAVAILABLE");
  });
});
