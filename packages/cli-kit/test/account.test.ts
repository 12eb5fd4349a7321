import { chmodSync } from "node:fs";
import { expect } from "chai";
import { Wallet as Account, encryptKeystoreJsonSync } from "ethers";
import { DeadHome } from "./support/run.ts";

describe("the account of a command", () => {
  let home: DeadHome;
  const account = Account.createRandom();
  const password = "a password nobody guesses";
  before(() => {
    home = new DeadHome();
  });

  /** The lowest scrypt cost, because the tests do not need strong encryption. */
  const encrypted = () => {
    const { address, privateKey } = account;
    return encryptKeystoreJsonSync({ address, privateKey }, password, { scrypt: { N: 2, r: 1, p: 1 } });
  };
  const recipient = (args: string[], environment = {}) => home.run(["recipient", "--json", ...args], environment);
  const walletOf = ({ stdout }: { stdout: string }) => (JSON.parse(stdout) as { wallet: string }).wallet;

  it("is read from the environment, a key file or an encrypted keystore file", async () => {
    const expected = account.address.toLowerCase();
    expect(walletOf(await recipient([], { SOTTO_ACCOUNT_KEY: account.privateKey }))).to.equal(expected);
    const plain = home.write("account.key", `${account.privateKey}\n`);
    expect(walletOf(await recipient(["--keystore", plain]))).to.equal(expected);
    const sealed = home.write("keystore.json", encrypted());
    expect(walletOf(await recipient(["--keystore", sealed], { SOTTO_ACCOUNT_PASSWORD: password }))).to.equal(expected);
    for (const environment of [{}, { SOTTO_ACCOUNT_PASSWORD: "another" }]) {
      const { code, stdout, stderr } = await recipient(["--keystore", sealed], environment);
      expect([code, stdout]).to.deep.equal([9, ""]);
      expect(stderr).to.not.include(password);
    }
  });

  it("rejects a key file that other users can read", async () => {
    const path = home.write("open.key", account.privateKey);
    chmodSync(path, 0o644);
    const { code, stderr } = await recipient(["--keystore", path]);
    expect([code, JSON.parse(stderr).error.code]).to.deep.equal([9, "KEY_FILE_UNSAFE"]);
    expect((await recipient(["--keystore", `${path}.nowhere`])).code).to.equal(9);
  });

  it("never appears in an error", async () => {
    for (const key of [`${account.privateKey}00`, account.privateKey.slice(2), `0x${"00".repeat(32)}`, "not a key"]) {
      const { code, stdout, stderr } = await recipient([], { SOTTO_ACCOUNT_KEY: key });
      expect([code, stdout], key).to.deep.equal([9, ""]);
      expect(stderr).to.not.include(key);
    }
  });

  it("is a public test account on local chains only, and not in production", async () => {
    const key = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
    const codeOf = ({ stderr }: { stderr: string }) => (JSON.parse(stderr) as { error: { code: string } }).error.code;
    expect(codeOf(await recipient([], { NODE_ENV: "production" }))).to.equal("KEY_MISSING");
    const refused = await recipient([], { NODE_ENV: "production", SOTTO_ACCOUNT_KEY: key });
    expect([refused.code, codeOf(refused)]).to.deep.equal([9, "ACCOUNT_PUBLIC"]);
    expect(refused.stderr).to.not.include(key.slice(2));
    const given = { NODE_ENV: "production", SOTTO_ACCOUNT_KEY: account.privateKey };
    expect(walletOf(await recipient([], given))).to.equal(account.address.toLowerCase());
    expect(walletOf(await recipient([], { SOTTO_ACCOUNT_KEY: key }))).to.equal(
      "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266",
    );
    expect(walletOf(await recipient([]))).to.equal("0x70997970c51812dc3a010c7d01b50e0d17dc79c8");
    const config = JSON.parse(home.read("home/config.json")) as object;
    home.write("home/config.json", JSON.stringify({ ...config, chainId: "1" }));
    const { code, stderr } = await recipient([]);
    expect([code, JSON.parse(stderr).error.code]).to.deep.equal([9, "KEY_MISSING"]);
    expect(codeOf(await recipient([], { SOTTO_ACCOUNT_KEY: key }))).to.equal("ACCOUNT_PUBLIC");
  });
});
