// A JSON-RPC node with scripted responses: wrong, slow, or missing.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface ScriptedNode {
  readonly url: string;
  /** Results by method. A function receives the parameters, HANG never answers, Raw is sent unchanged. */
  answers: Record<string, unknown>;
  /** Methods of the requests, in order. */
  methods: string[];
  /** Parameters of the requests, in order. */
  params: unknown[][];
  close(): void;
}

export class Raw {
  readonly text: string;
  readonly status: number;
  constructor(text: string, status = 200) {
    this.text = text;
    this.status = status;
  }
}

export const HANG = Symbol("hang");

export function startScriptedNode(answers: Record<string, unknown>): Promise<ScriptedNode> {
  const node: { -readonly [name in keyof ScriptedNode]: ScriptedNode[name] } = {
    url: "",
    answers,
    methods: [],
    params: [],
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { method, id, params } = JSON.parse(Buffer.concat(parts).toString());
    node.methods.push(method);
    node.params.push(params);
    const result = node.answers[method];
    if (result === HANG) return;
    if (result instanceof Raw) response.writeHead(result.status).end(result.text);
    else
      response.end(
        JSON.stringify({ jsonrpc: "2.0", id, result: typeof result === "function" ? result(params) : result }),
      );
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      node.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      resolve(node);
    });
  });
}
