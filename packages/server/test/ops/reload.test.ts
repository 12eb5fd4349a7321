import { SottoError } from "@sotto/protocol";
import { expect } from "chai";
import { Registry } from "prom-client";
import { integer, text } from "../../src/config/parse.ts";
import { live, setting } from "../../src/config/setting.ts";
import { createLog } from "../../src/ops/log.ts";
import { liveValues, type PreparedReload, Reloads, settingChanges } from "../../src/ops/reload.ts";

const TABLE = {
  rate: live(setting("SOTTO_RATE", integer(1), "3", "how often")),
  list: live(setting("SOTTO_LIST", text, undefined, "which")),
  port: setting("SOTTO_PORT", integer(1), "1", "where"),
};

describe("the changes of settings", () => {
  it("are those that can be applied, and those that need a restart", () => {
    const running = { rate: 3, list: ["a"], port: 1, other: 1 };
    expect(settingChanges(TABLE, running, { rate: 3, list: ["a"], port: 1 })).to.deep.equal({ live: [], fixed: [] });
    expect(settingChanges(TABLE, running, { rate: 4, list: ["b"], port: 2 })).to.deep.equal({
      live: ["SOTTO_RATE", "SOTTO_LIST"],
      fixed: ["SOTTO_PORT"],
    });
    expect(liveValues(TABLE, { rate: 4, list: undefined, port: 2, other: 2 })).to.deep.equal({
      rate: 4,
      list: undefined,
    });
  });
});

describe("a reload", () => {
  const open = () => {
    const lines: Record<string, unknown>[] = [];
    const log = createLog("info", { write: (line: string) => void lines.push(JSON.parse(line)) });
    const metrics = new Registry();
    const time = { now: 5_000 };
    const reloads = new Reloads({ log, metrics, clock: () => time.now });
    const metric = async (name: string) => {
      const { values } = await metrics.getSingleMetric(`sotto_config_${name}`)!.get();
      return values[0]?.value;
    };
    return { lines, reloads, time, metric };
  };
  const prepared = (apply: () => void, change: Partial<PreparedReload> = {}): PreparedReload => ({
    ...{ live: [], fixed: [], apply },
    ...change,
  });

  it("is refused as a whole, with its code in each line, also if the operator tries again at once", async () => {
    const { lines, reloads, time, metric } = open();
    expect([await metric("reload_success"), await metric("reload_success_timestamp_seconds")]).to.deep.equal([1, 5]);
    time.now = 9_000;
    const refuse = async () => {
      throw new SottoError("INVALID_CONFIG", "SOTTO_RATE must be more");
    };
    expect([await reloads.reload(refuse), await reloads.reload(refuse)]).to.deep.equal([false, false]);
    expect(lines.map(({ code, level }) => [code, level])).to.deep.equal([
      ["INVALID_CONFIG", 50],
      ["INVALID_CONFIG", 50],
    ]);
    expect(JSON.stringify(lines[0])).to.include("SOTTO_RATE must be more");
    expect([await metric("reload_success"), await metric("reload_success_timestamp_seconds")]).to.deep.equal([0, 5]);
    expect(await reloads.reload(async () => prepared(() => undefined))).to.equal(true);
    expect([await metric("reload_success"), await metric("reload_success_timestamp_seconds")]).to.deep.equal([1, 9]);
  });

  it("names what was changed, and what needs a restart", async () => {
    const { lines, reloads, metric } = open();
    const applied: string[] = [];
    const changes = { live: ["SOTTO_RATE"], fixed: ["SOTTO_PORT"] };
    await reloads.reload(async () => prepared(() => applied.push("once"), changes));
    expect(applied).to.deep.equal(["once"]);
    expect(lines.map(({ changed, settings, code }) => changed ?? [settings, code])).to.deep.equal([
      ["SOTTO_RATE"],
      [["SOTTO_PORT"], "RESTART_NEEDED"],
    ]);
    expect(await metric("restart_needed")).to.equal(1);
    await reloads.reload(async () => prepared(() => undefined));
    expect(await metric("restart_needed")).to.equal(0);
  });

  it("waits for the one before it, so that the last one decides", async () => {
    const { reloads } = open();
    const order: string[] = [];
    let free = (): void => undefined;
    const slow = new Promise<void>((resolve) => {
      free = resolve;
    });
    const first = reloads.reload(async () => {
      await slow;
      return prepared(() => order.push("first"));
    });
    const second = reloads.reload(async () => prepared(() => order.push("second")));
    free();
    await Promise.all([first, second]);
    expect(order).to.deep.equal(["first", "second"]);
  });
});
