import { copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { slow } from "@sotto/test-kit/slow";
import { SqliteStore } from "@sotto/wallet/sqlite";
import { expect } from "chai";
import { DeadHome } from "./support/run.ts";

const environment = { SOTTO_PASSPHRASE: "correct horse battery" };

describe("restore", function () {
  slow(this, "keys are derived from passphrases, slowly on purpose");
  let [first, second] = [undefined, undefined] as unknown as [DeadHome, DeadHome];
  let backup: string;
  beforeEach(async () => {
    [first, second] = [new DeadHome(), new DeadHome()];
    await put(first, "journal/1", "of the backup");
    for (const key of ["page/000000000001", "scan/head", "tree"]) await put(first, key, "of the chain");
    backup = join(first.folder, "backup.json");
    expect((await first.run(["export", "--output", backup], environment)).code).to.equal(0);
    second.empty();
  });

  async function put({ home }: DeadHome, key: string, value: string): Promise<void> {
    const store = new SqliteStore(join(home, "wallet.sqlite"));
    await store.batch([{ put: key, value, expected: 0 }]);
    await store.close();
  }

  async function records({ home }: DeadHome): Promise<unknown[]> {
    const store = new SqliteStore(join(home, "wallet.sqlite"));
    const all = await store.list("");
    await store.close();
    return all.map(({ key, value }) => [key, value]);
  }

  it("keeps a wallet that another process creates while the user types the passphrase", async () => {
    const meanwhile = {
      get SOTTO_PASSPHRASE() {
        mkdirSync(second.home, { mode: 0o700 });
        for (const name of ["config.json", "seed", "wallet.sqlite", "wallet.sqlite.cache"])
          copyFileSync(join(first.home, name), join(second.home, name));
        return environment.SOTTO_PASSPHRASE;
      },
    };
    expect((await second.run(["restore", backup], meanwhile)).stderr).to.include("WALLET_EXISTS");
    expect(await records(second)).to.deep.equal(await records(first));
  });

  it("can be repeated if it was interrupted before writing the config", async () => {
    for (const lost of [["config.json"], ["config.json", "seed"]]) {
      const done = await second.run(["restore", backup], environment);
      expect(done.code, done.stderr).to.equal(0);
      for (const name of lost) rmSync(join(second.home, name));
    }
    const again = await second.run(["restore", backup], environment);
    expect(again.code, again.stderr).to.equal(0);
    expect(second.read("home/seed").trim()).to.equal(first.words);
    expect(await records(second)).to.deep.equal([["journal/1", "of the backup"]]);
  });

  it("rejects a folder with another key or a non-empty store", async () => {
    mkdirSync(second.home, { mode: 0o700 });
    await put(second, "journal/1", "of another");
    expect((await second.run(["restore", backup], environment)).stderr).to.include("WALLET_EXISTS");
    expect(await records(second)).to.deep.equal([["journal/1", "of another"]]);
    rmSync(join(second.home, "wallet.sqlite"));
    second.write("home/seed", second.words);
    expect((await second.run(["restore", backup], environment)).stderr).to.include("WALLET_EXISTS");
    expect(second.read("home/seed")).to.equal(second.words);
    expect(existsSync(join(second.home, "wallet.sqlite"))).to.equal(false);
  });
});
