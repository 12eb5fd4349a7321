// The limits in a wallet's config file, and the command that sets them.
import { expect } from "chai";
import { EXIT } from "../src/frame/exit.ts";
import { configFields, parseConfig } from "../src/home/config.ts";
import { DEAD_CONFIG, DeadHome } from "./support/run.ts";

describe("limits in a config", () => {
  const read = (limits: unknown) => parseConfig({ ...DEAD_CONFIG, limits }, "config.json").limits;

  it("are parsed as written", () => {
    expect(read({ perDay: "2000000", approveAbove: "0" })).to.deep.equal({ perDay: 2_000_000n, approveAbove: 0n });
  });

  it("are parsed by host and by tool, and written as they were read", () => {
    const limits = { perHour: "500000", hosts: { "api.example": "0", phone: "5" }, tools: { pay_phone: "7" } };
    expect(read(limits)).to.deep.equal({
      perHour: 500_000n,
      hosts: { "api.example": 0n, phone: 5n },
      tools: { pay_phone: 7n },
    });
    expect(configFields(parseConfig({ ...DEAD_CONFIG, limits }, "config.json"))["limits"]).to.deep.equal(limits);
    expect(configFields(parseConfig({ ...DEAD_CONFIG, limits: {} }, "config.json"))["limits"]).to.equal(undefined);
  });

  it("reject a misspelled name, which would have no effect", () => {
    for (const [limits, name] of [
      [{ perday: "2000000" }, "limits.perday"],
      [{ hosts: { "API.example": "1" } }, "API.example"],
      [{ hosts: { "api.example:443": "1" } }, "api.example:443"],
      [{ hosts: { "api.example.": "1" } }, "api.example."],
      [{ tools: { fetchpaid: "1" } }, "fetchpaid"],
    ] as const)
      expect(() => read(limits))
        .to.throw(name)
        .with.property("code", "CONFIG_INVALID");
  });

  it("reject anything but base units", () => {
    for (const limits of [
      { perHour: 1 },
      { hosts: [] },
      { hosts: { "api.example": "0.5" } },
      { hosts: { "api.example": null } },
      { tools: "fetch_paid" },
      { tools: { fetch_paid: "-1" } },
    ])
      expect(() => read(limits), JSON.stringify(limits))
        .to.throw()
        .with.property("code", "CONFIG_INVALID");
  });
});

describe("sotto limits", () => {
  let home: DeadHome;
  beforeEach(() => {
    home = new DeadHome();
  });
  const limits = async (...args: string[]) => {
    const { code, stdout, stderr } = await home.run(["limits", ...args, "--json"]);
    expect(code, stderr).to.equal(0);
    return JSON.parse(stdout) as { hosts: object; tools: object } & Record<string, { decimal: string } | null>;
  };
  const amount = (decimal: string) => ({ amount: String(Number(decimal) * 1e6), decimal });

  it("sets limits per hour, for every host, for single hosts and for tools", async () => {
    const first = [
      "--max-hour",
      "0.5",
      "--max-host",
      "1",
      "--max-host",
      "API.Example.=0.25",
      "--max-tool",
      "pay_phone=0",
    ];
    const after = {
      perRequest: null,
      perHost: amount("1"),
      perHour: amount("0.5"),
      perDay: null,
      approveAbove: null,
      hosts: { "api.example": amount("0.25") },
      tools: { pay_phone: amount("0") },
    };
    expect(await limits(...first)).to.deep.equal(after);
    expect(await limits()).to.deep.equal(after);
    const { stdout } = await home.run(["limits"]);
    expect(stdout).to.equal(
      "max-host              1 USDC\nmax-hour              0.5 USDC\nmax-host api.example  0.25 USDC\n" +
        "max-tool pay_phone    0 USDC\n",
    );
  });

  it("keeps the hosts and tools that are not given, and removes those that are none", async () => {
    await limits("--max-host", "a.example=1", "--max-host", "[::1]=2", "--max-tool", "fetch_paid=3");
    expect((await limits("--max-host", "bücher.example=4")).hosts).to.deep.equal({
      "a.example": amount("1"),
      "[::1]": amount("2"),
      "xn--bcher-kva.example": amount("4"),
    });
    const removed = await limits("--max-host", "a.example=none", "--max-tool", "fetch_paid=none");
    expect([Object.keys(removed.hosts), removed.tools]).to.deep.equal([["[::1]", "xn--bcher-kva.example"], {}]);
    expect((await limits("--none", "--max-hour", "1")).hosts).to.deep.equal({});
  });

  it("refuses a limit that is given twice, and more than 100 hosts", async () => {
    const hosts = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => ["--max-host", `h${from + i}.example=1`]).flat();
    for (const args of [
      ["--max-host", "1", "--max-host", "2"],
      ["--max-host", "a.example=1", "--max-host", "A.example.=2"],
      ["--max-tool", "fetch_paid=1", "--max-tool", "fetch_paid=2"],
      hosts(0, 101),
    ])
      expect((await home.run(["limits", ...args])).code, args.slice(0, 4).join(" ")).to.equal(EXIT.usage.code);
    await limits(...hosts(0, 100));
    expect((await home.run(["limits", ...hosts(100, 1)])).code).to.equal(EXIT.usage.code);
  });
});
