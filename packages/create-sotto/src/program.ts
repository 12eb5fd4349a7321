// The program `create-sotto`. main.ts imports it after checking Node's version.
import { relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { createProject, findTemplate, type NewProject } from "./create.ts";
import { CreateError } from "./errors.ts";
import { ask } from "./prompt.ts";
import { TEMPLATES } from "./templates.ts";

const list = TEMPLATES.map(({ name, what }) => `  ${name.padEnd(26)}${what}`).join("\n");
const USAGE = `npm run new -- [TEMPLATE] [FOLDER]: creates a project from a template. It asks for what is missing.

${list}
`;

/** npm runs its scripts in the root of the checkout; INIT_CWD names the folder from which the user called it. */
const whereUserIs = process.env["INIT_CWD"] ?? process.cwd();

interface Arguments {
  readonly help: boolean;
  readonly template: string | undefined;
  readonly folder: string | undefined;
}

/** @throws CreateError USAGE */
function parse(args: string[]): Arguments {
  try {
    const options = { help: { type: "boolean", short: "h", default: false } } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    if (positionals.length > 2) throw new Error(`Unexpected argument '${positionals[2]}'`);
    return { help: values.help, template: positionals[0], folder: positionals[1] };
  } catch (cause) {
    const [problem] = (cause as Error).message.split(". ");
    throw new CreateError("USAGE", `${problem}; npm run new -- --help shows the usage`, {}, { cause });
  }
}

/**
 * Asks for the template and the folder if the arguments lack them.
 * @returns undefined if the user ends the questions
 * @throws CreateError USAGE without a terminal
 */
async function complete({ template, folder }: Arguments): Promise<{ template: string; folder: string } | undefined> {
  if (template !== undefined) findTemplate(template);
  if (template !== undefined && folder !== undefined) return { template, folder };
  const { stdin: input, stdout: output } = process;
  if (input.isTTY) return ask({ input, output, folder: whereUserIs }, { template, folder });
  const missing = template === undefined ? "a template and a folder" : "a folder";
  throw new CreateError(
    "USAGE",
    `${missing} must be given: npm run new -- TEMPLATE FOLDER; --help lists the templates`,
  );
}

/** What to do next. Both commands of the checkout have to run: one serves the packages, the other runs the chain. */
function nextSteps({ template, folder }: NewProject): string {
  const near = relative(whereUserIs, folder) || ".";
  const path = near.length < folder.length ? near : folder;
  return [
    `Created ${path}. In the checkout, run each in its own terminal:`,
    "  npm run dev       a chain, the service, three servers to pay",
    "  npm run release   serves the packages",
    "Then, with Node 22.18 or newer:",
    `  cd ${path} && ${template.commands.join(" && ")}`,
  ].join("\n");
}

try {
  const args = parse(process.argv.slice(2));
  if (args.help) process.stdout.write(USAGE);
  else {
    const answers = await complete(args);
    if (answers === undefined) {
      console.error("nothing was created");
      process.exitCode = 130;
    } else console.log(nextSteps(createProject(answers.template, resolve(whereUserIs, answers.folder))));
  }
} catch (error) {
  if (!(error instanceof CreateError)) throw error;
  console.error(`sotto: ${error.code}: ${error.message}`);
  process.exitCode = 1;
}
