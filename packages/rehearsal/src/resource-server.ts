// The resource server of the rehearsal: the program of docs/resource-server.md, with its options from the environment.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { CommandError, runCommand } from "@sotto/command/command";
import { HOST } from "@sotto/command/ports";
import { parseDeployment } from "@sotto/protocol";
import { sotto } from "@sotto/resource-server/express";
import express from "express";

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new CommandError("OPTION_MISSING", `${name} is missing`);
  return value;
}

async function open(): Promise<void> {
  const readJson = (path: string) => JSON.parse(readFileSync(path, "utf8"));
  const app = express();
  const server = app.listen(0, HOST);
  await once(server, "listening");
  const origin = `http://${HOST}:${(server.address() as AddressInfo).port}`;
  const price = setting("PRICE");
  const store = process.env["STORE"];
  try {
    const paywall = sotto({
      origin,
      price,
      recipient: readJson(setting("RECIPIENT")),
      service: setting("SERVICE"),
      chain: {
        ...parseDeployment(readJson(setting("DEPLOYMENT"))),
        rpcUrls: [setting("RPC_URL")],
        blockTimeMs: Number(setting("BLOCK_TIME_MS")),
      },
      ...(store === undefined ? {} : { store }),
    });
    app.get("/report", paywall, ({ payment }, response) => void response.send(`paid for ${payment?.resource}`));
    await paywall.ready;
    console.log(`${origin}/report costs ${price}`);
    process.once("SIGTERM", () => server.close(() => void paywall.close()));
  } catch (error) {
    server.close();
    throw error;
  }
}

if (import.meta.main) await runCommand(open);
