const root = import.meta.dirname

export default { turbopack: { root }, outputFileTracingRoot: root, distDir: 'node_modules/.built' }
