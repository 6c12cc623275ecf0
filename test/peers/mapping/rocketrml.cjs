/** `node rocketrml.cjs MAPPING OUTPUT`: RocketRML over the files that a mapping names. */
const { parseFile } = require('rocketrml')

const [, , mapping, output] = process.argv
const begun = performance.now()
parseFile(mapping, output, { toRDF: true, verbose: false, replace: false }).then(
  () => console.log(`mapped in ${((performance.now() - begun) / 1000).toFixed(2)} seconds`),
  error => {
    console.error(error)
    process.exitCode = 1
  },
)
