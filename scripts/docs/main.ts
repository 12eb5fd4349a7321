// `npm run docs`: turbo has already built the documentation's site; this script prints where it is, and serves it on
// request.
import { join, relative } from "node:path";
import { openBrowser } from "@sotto/command/browser";
import { parseFlags, parsePort, runCommand } from "@sotto/command/command";
import { root } from "@sotto/keys/circuits/paths";
import { SITE, serveSite } from "../../docs/site/serve.ts";

const USAGE = `npm run docs -- [OPTIONS]: builds the documentation as a site of static files.

  --serve    serve it on this machine until Ctrl-C
  --open     serve it and open the browser
  --port N   the first port to try; default 4030
`;

await runCommand(async () => {
  const { help, serve, open, port } = parseFlags("docs", process.argv.slice(2), {
    help: { type: "boolean", short: "h", default: false },
    serve: { type: "boolean", default: false },
    open: { type: "boolean", default: false },
    port: { type: "string", default: "4030" },
  });
  if (help) return void process.stdout.write(USAGE);
  const first = parsePort(port);
  console.log(`The site is in ${relative(root, SITE)}: ${relative(root, join(SITE, "index.html"))} is its first page.`);
  if (!serve && !open) return console.log("npm run docs -- --open serves it on this machine and opens the browser.");
  const { url } = await serveSite(first);
  console.log(`${url} (Ctrl-C ends it)`);
  if (open) openBrowser(url);
});
