import { useState } from "react";
import { enterConfig, type HostConfig } from "../config.ts";
import { useAction } from "../hooks/use-action.ts";
import { Button } from "./button.tsx";
import { ErrorMessage } from "./error-message.tsx";
import { Field } from "./field.tsx";
import { Form } from "./form.tsx";
import { TextArea } from "./text-area.tsx";

/** Asks for the configuration if the host has no sotto.json. */
export function ConfigForm({ onEntered }: { onEntered(config: HostConfig): void }) {
  const [service, setService] = useState("");
  const [node, setNode] = useState("");
  const [manifest, setManifest] = useState("");
  const { busy, failure, run } = useAction();
  return (
    <div className="narrow stack loose">
      <div>
        <h1>Connect to a pool</h1>
        <p className="soft">The host of this page names no pool. Enter one that you trust.</p>
      </div>
      <Form
        className="card stack"
        onSubmit={() => run(async () => onEntered(enterConfig({ service, node, manifest })))}
      >
        <Field
          label="Service"
          type="url"
          required
          placeholder="https://pay.example/zk"
          value={service}
          onChange={setService}
        />
        <Field
          label="Node (JSON-RPC)"
          type="url"
          required
          placeholder="https://node.example"
          value={node}
          onChange={setNode}
        />
        <TextArea
          label="Deployment manifest"
          hint="The JSON file that describes the pool; its operator publishes it."
          required
          value={manifest}
          onChange={setManifest}
        />
        {failure !== undefined && <ErrorMessage error={failure} />}
        <div className="dialog-actions">
          <Button kind="primary" type="submit" busy={busy}>
            Connect
          </Button>
        </div>
      </Form>
    </div>
  );
}
