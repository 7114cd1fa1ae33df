// Signs and broadcasts the operations of hardforks 14 and 15 with the serializers of viz-js-lib, and calls its methods.
// Release 0.11.0 has neither: the tables of fields and methods are those of its newer sources, given as a file.
// Each line of the standard input is a request, each line of the standard output the answer to it.
'use strict';
console.log = console.warn = console.error; // the library warns there, and what is printed here is JSON
const fs = require('fs');
const path = require('path');
const readline = require('readline');

const library = path.dirname(require.resolve('viz-js-lib', { paths: [process.cwd()] }));
const viz = require(library);
const types = require(path.join(library, 'auth/serializer/src/types'));
const Serializer = require(path.join(library, 'auth/serializer/src/serializer'));
const { operation } = require(path.join(library, 'auth/serializer/src/operations'));

const [, , url, tables] = process.argv;
const { layouts, properties, methods } = JSON.parse(fs.readFileSync(tables, 'utf-8'));

// 0.11.0 has no signed byte.
types.int8 = {
  fromByteBuffer: (buffer) => buffer.readInt8(),
  appendByteBuffer: (buffer, value) => buffer.writeInt8(value),
  fromObject: (value) => value,
  toObject: (value) => (value === undefined ? 0 : value),
};
types.future_extensions = types.void;

// `optional(asset)`, `bytes(32)`, `uint16`
function typeOf(text) {
  const [, name, inner] = /^(\w+)(?:\((.*)\))?$/.exec(text);
  if (inner === undefined) {
    return types[name];
  }
  return types[name](/^\d+$/.test(inner) ? Number(inner) : typeOf(inner));
}

function add(alternatives, tables_) {
  for (const [tag, { name, fields }] of Object.entries(tables_)) {
    const declared = Object.fromEntries(fields.map(([field, kind]) => [field, typeOf(kind)]));
    alternatives[Number(tag)] = new Serializer(name, declared);
  }
}

add(operation.st_operations, layouts);
const published = operation.st_operations.find((each) => each.operation_name === 'versioned_chain_properties_update');
add(published.types.props.st_operations, properties);

function answerTo({ operations, key, call }) {
  if (operations !== undefined) {
    return viz.broadcast.sendAsync({ operations, extensions: [] }, [key]).then(({ operations: sent }) => sent);
  }
  const [method, ...params] = call;
  const { api } = methods.find((each) => each.method === method);
  return new Promise((resolve, reject) => {
    viz.api.send(api, { method, params }, (fault, result) => (fault ? reject(fault) : resolve(result)));
  });
}

async function main() {
  viz.config.set('websocket', url);
  const { CHAIN_ID } = await viz.api.getConfigAsync();
  viz.config.set('chain_id', CHAIN_ID);
  for await (const line of readline.createInterface({ input: process.stdin })) {
    let said;
    try {
      said = { result: await answerTo(JSON.parse(line)) };
    } catch (fault) {
      said = { error: String((fault && fault.message) || fault) };
    }
    process.stdout.write(`${JSON.stringify(said)}\n`);
  }
}

main().then(() => process.exit(0), (fault) => {
  console.error(fault);
  process.exit(1);
});
