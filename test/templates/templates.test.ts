// Templates as users use them: created outside the checkout, installed from a registry, type-checked, started and tested
// against `npm run dev`.
import { execFile } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { findChromium } from "@sotto/test-browser/chromium";
import { anyRejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { ALONE, openTemplates, TOGETHER } from "./needs.ts";
import { installsIn, worksIn } from "./project.ts";
import { npm, type World } from "./world.ts";

const runProgram = promisify(execFile);

describe("templates", function () {
  slow(this, "packages are packed and installed, and payments proved");
  let world: World;
  /** A program that starts Chromium with the variables that it needs, so that no other program sees them. */
  let chromium: string;
  before(async () => {
    world = await openTemplates();
    const { path, environment } = await findChromium();
    const variables = Object.entries(environment).map(([name, value]) => `${name}='${value}' `);
    chromium = join(world.folder, "chromium");
    const options = "--disable-gpu --disable-software-rasterizer";
    writeFileSync(chromium, `#!/bin/sh\n${variables.join("")}exec '${path}' ${options} "$@"\n`, { mode: 0o755 });
  });

  /** Opens the client's wallet and pins the merchant to another wallet, as after `npm run dev -- --fresh`. */
  const PIN_ANOTHER = `import { id } from "ethers";
import { open } from "./src/wallet.ts";
const [host, wallet] = [new URL(process.env.SOTTO_URL).host, "0x${"11".repeat(20)}"];
const opened = await open();
await opened.store.put(\`pin/host/\${id(host).slice(2, 34)}\`, { host, wallet }, 0);
await opened.close();
`;

  const explainsChangedRecipient = (folder: () => string) =>
    it("says in two lines what to do if the merchant has a different wallet than before", async () => {
      const variables = { ...world.environment, DATA: join(folder(), "pinned") };
      writeFileSync(join(folder(), "pin.ts"), PIN_ANOTHER);
      await runProgram(process.execPath, ["pin.ts"], { cwd: folder(), env: { ...process.env, ...variables } });
      const args = ["run", "-s", "start", "--", world.environment["SOTTO_URL"]!];
      const error = await anyRejection(npm(folder(), args, variables));
      expect(error.message).to.match(
        /\nRECIPIENT_CHANGED: .* was paid under the wallet 0x1111.*; nothing was paid; .*\nAfter `npm run dev -- --fresh`, delete .*\n$/,
      );
      rmSync(join(folder(), "pin.ts"));
    });

  const environment = () => ({ ...world.environment, CHROMIUM: chromium });

  for (const name of ALONE)
    describe(name, () => {
      const folder = () => join(world.folder, name);
      installsIn(name, folder, () => world);
      worksIn(folder, environment);
    });

  describe("together", () => {
    for (const name of TOGETHER)
      describe(name, () => {
        const folder = () => join(world.projects, name);
        worksIn(folder, environment);
        if (name === "client") explainsChangedRecipient(folder);
      });
  });
});
