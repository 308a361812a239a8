// Auto-generated tool registry types - DO NOT EDIT MANUALLY
// This file is regenerated whenever tools are added, removed, or updated during development
// Generated at: 2026-11-28T18:35:13.219Z

declare module "mcp-use/react" {
  interface ToolRegistry {
    "add": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_1": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_10": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_11": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_12": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_13": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_14": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_15": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_16": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_17": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_18": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_19": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_2": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_20": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_21": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_22": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_23": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_24": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_25": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_26": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_27": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_28": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_29": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_3": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_30": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_31": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_32": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_33": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_34": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_35": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_36": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_37": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_38": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_39": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_4": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_40": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_41": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_42": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_43": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_44": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_45": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_5": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_6": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_7": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_8": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_9": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "add_later": {
      input: { "a": number; "b": number };
      output: Record<string, unknown>;
    };
    "count_characters": {
      input: { "text": string };
      output: Record<string, unknown>;
    };
    "count_rows": {
      input: { "rows": Array<{ "id": number; "name": string; "price": number }> };
      output: Record<string, unknown>;
    };
    "execute_assistant_task": {
      input: { "prompt": string };
      output: Record<string, unknown>;
    };
  }
}

export {};
