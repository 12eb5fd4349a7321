import { expect } from "chai";
import { EXIT } from "../src/frame/exit.ts";
import { DeadHome } from "./support/run.ts";

describe("services and registries over plain http", () => {
  let home: DeadHome;
  beforeEach(() => {
    home = new DeadHome();
  });
  const configure = (chainId: string, service: string) =>
    home.write("home/config.json", JSON.stringify({ ...JSON.parse(home.read("home/config.json")), chainId, service }));
  /** The exit code and the error code. */
  const ends = async (...args: string[]) => {
    const { code, stderr } = await home.run(args, { SOTTO_ACCOUNT_KEY: `0x${"11".repeat(32)}` });
    return `${code} ${/^sotto: ([A-Z_]+)/m.exec(stderr)?.[1]}`;
  };
  const refused = `${EXIT.usage.code} SERVICE_NOT_SECURE`;

  it("are rejected by init unless the chain is local", async () => {
    configure("8453", "https://pay.example/zk");
    const before = home.read("home/config.json");
    const init = (service: string) => ends("init", "--update", "--service", service);
    for (const service of ["http://pay.example/zk", "http://10.0.0.7:8402/zk"])
      expect(await init(service)).to.equal(refused);
    expect(home.read("home/config.json")).to.equal(before);
    // With a valid config, the command reaches the node.
    configure("31337", "https://pay.example/zk");
    expect(await init("http://10.0.0.7:8402/zk")).to.equal(`${EXIT.network.code} NODE_UNREACHABLE`);
  });

  it("receive no signature, even if the config names them", async () => {
    configure("8453", "http://pay.example/zk");
    expect(await ends("link", "+14155550123", "--code", "123456")).to.equal(refused);
    configure("8453", "https://pay.example/zk");
    expect(await ends("link", "+14155550123", "--code", "123456", "--registry", "http://10.0.0.7/zk")).to.equal(
      refused,
    );
  });
});
