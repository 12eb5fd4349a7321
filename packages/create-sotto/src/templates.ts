/** A project that can be created. */
export interface Template {
  /** As it is typed, such as `client-mcp`. */
  readonly name: string;
  /** For people. */
  readonly what: string;
  /**
   * Folders below templates/ whose files make up the project; a file from a later folder replaces one from an earlier
   * folder.
   */
  readonly folders: readonly string[];
  /** Commands that show the result, in the new folder. */
  readonly commands: readonly string[];
}

const server = (framework: string): Template => {
  const name = `resource-server-${framework.toLowerCase()}`;
  const what = `charges for a route, with ${framework}`;
  return { name, what, folders: ["node", "resource-server", name], commands: ["npm install", "npm start"] };
};

/** All templates, in the order in which they are offered. */
export const TEMPLATES: readonly Template[] = [
  server("Express"),
  server("Fastify"),
  server("Hono"),
  {
    name: "client",
    what: "a script that pays for a URL",
    folders: ["node", "client"],
    commands: ["npm install", "npm start"],
  },
  {
    name: "client-mcp",
    what: "an agent that pays, through an MCP server",
    folders: ["node", "client-mcp"],
    commands: ["npm install", "npm start"],
  },
  {
    name: "browser",
    what: "a page that pays for an article",
    folders: ["browser"],
    commands: ["npm install", "npm run dev"],
  },
  {
    name: "resource-server-llm",
    what: "charges for a language model's tokens",
    folders: ["node", "resource-server", "resource-server-llm"],
    commands: ["npm install", "npm start"],
  },
];
