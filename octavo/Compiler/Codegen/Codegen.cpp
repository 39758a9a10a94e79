#include "octavo/Compiler/Codegen/Codegen.h"

#include "octavo/Base/Loops.h"
#include "octavo/Compiler/Codegen/CompilationCache.h"
#include "octavo/Compiler/Codegen/InvariantBases.h"
#include "octavo/Compiler/Codegen/InvariantDivision.h"
#include "octavo/Compiler/Codegen/LoadedObject.h"
#include "octavo/Compiler/Codegen/RowFetch.h"
#include "octavo/Program/Steps/KernelLibrary.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <mutex>

namespace octavo::compiler {

namespace {

/// Passes that pay for loops that are written as they are to run, in two thirds of the time of -O3:
/// no unrolling, no second vectorizer, no interleaving.
constexpr llvm::StringLiteral kPasses =
    "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop-mssa(loop-rotate,licm<allowspeculation>),simplifycfg,loop(indvars,loop-deletion),"
    "invariant-division,"
    "loop-vectorize<no-interleave-forced-only;no-vectorize-forced-only>,"
    "instcombine<no-verify-fixpoint>,early-cse<memssa>,loop-mssa(licm<allowspeculation>),"
    "simplifycfg,invariant-bases,early-cse,dce,row-fetch)";

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> targetMachine() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    // Loop strength reduction takes a quarter of the time; InvariantBases has done its work. The
    // option is global, but this library has an LLVM of its own.
    const char* options[] = {"octavo-codegen", "-disable-lsr"};
    llvm::cl::ParseCommandLineOptions(2, options);
  });
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  // The code is also linked to shared objects.
  builder->setRelocationModel(llvm::Reloc::PIC_);
  // Each operation is rounded by itself.
  builder->getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return builder->createTargetMachine();
}

/// Replaces x * 2^n by two products, with the same bits: kernels scale numbers near 1, whose first
/// product is exact. AVX-512 has a vector instruction for it and needs no replacement.
void expandScaling(llvm::Module& module, const llvm::TargetMachine& machine) {
  if (machine.getTargetFeatureString().contains("+avx512f"))
    return;
  llvm::Function* ldexp = module.getFunction("llvm.ldexp.f32.i32");
  if (ldexp == nullptr)
    return;
  for (llvm::User* user : llvm::make_early_inc_range(ldexp->users())) {
    auto* call = llvm::cast<llvm::CallInst>(user);
    llvm::IRBuilder<> b(call);
    // n + 254 is n plus twice the bias and has 9 bits: the two exponents are its half and the rest.
    llvm::Value* biased = b.CreateAdd(call->getArgOperand(1), b.getInt32(254));
    llvm::Value* half = b.CreateAnd(b.CreateShl(biased, 22), b.getInt32(0x7F800000));
    llvm::Value* rest = b.CreateSub(b.CreateShl(biased, 23), half);
    const auto times = [&](llvm::Value* x, llvm::Value* power) {
      return b.CreateFMul(x, b.CreateBitCast(power, b.getFloatTy()));
    };
    call->replaceAllUsesWith(times(times(call->getArgOperand(0), half), rest));
    call->eraseFromParent();
  }
}

llvm::Expected<std::unique_ptr<llvm::Module>> optimized(const std::string& text,
                                                        const std::string& name,
                                                        llvm::LLVMContext& context,
                                                        llvm::TargetMachine& machine) {
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, diagnostic, context);
  if (!module)
    return llvm::createStringError("a kernel is no LLVM IR: " + diagnostic.getMessage());
  module->setDataLayout(machine.createDataLayout());
  module->setTargetTriple(machine.getTargetTriple());
  module->getFunction("kernel")->setName(name);
  for (llvm::Function& function : *module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    function.addFnAttr("prefer-vector-width", "512");
  }
  expandScaling(*module, machine);
  llvm::PipelineTuningOptions tuning;
  tuning.LoopInterleaving = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.registerPipelineParsingCallback([](llvm::StringRef pass,
                                             llvm::FunctionPassManager& manager,
                                             llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
    if (pass == "invariant-bases")
      manager.addPass(InvariantBases());
    else if (pass == "invariant-division")
      manager.addPass(InvariantDivision());
    else if (pass == "row-fetch")
      manager.addPass(RowFetch());
    else
      return false;
    return true;
  });
  llvm::ModulePassManager passes;
  if (llvm::Error error = builder.parsePassPipeline(passes, kPasses))
    return std::move(error);
  passes.run(*module, modules);
  return std::move(module);
}

llvm::Error emit(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType type,
                 llvm::SmallVectorImpl<char>& bytes) {
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, out, nullptr, type))
    return llvm::createStringError("LLVM has no code generator for this machine");
  passes.run(module);
  return llvm::Error::success();
}

/// What a kernel's code depends on besides its text: the machine, and this library, which contains
/// LLVM, its options and all passes.
std::string settingsOf(const llvm::TargetMachine& machine, llvm::StringRef build) {
  return (machine.getTargetTriple().str() + "\n" + machine.getTargetCPU() + "\n" +
          machine.getTargetFeatureString() + "\n" + build + "\n")
      .str();
}

/// The object file of a kernel whose function is `name`: from the cache, or compiled.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
objectOf(const std::string& text, const std::string& name, const CompilationCache& cache) {
  if (std::unique_ptr<llvm::MemoryBuffer> kept = cache.find(name))
    return std::move(kept);
  auto machine = targetMachine();
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  auto module = optimized(text, name, context, **machine);
  if (!module)
    return module.takeError();
  llvm::SmallVector<char, 0> object;
  if (llvm::Error error = emit(**module, **machine, llvm::CodeGenFileType::ObjectFile, object))
    return std::move(error);
  cache.keep(name, llvm::StringRef(object.data(), object.size()));
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(object), name, false);
}

struct NamedObject {
  std::string name; ///< of its function
  std::unique_ptr<llvm::MemoryBuffer> object;
};

/// The object files of kernels, in the order of their texts.
llvm::Expected<std::vector<NamedObject>> objectsOf(std::span<const std::string> kernels,
                                                   const llvm::TargetMachine& machine) {
  static const std::string build =
      buildIdOf(loadedObjectOf(reinterpret_cast<const void*>(&settingsOf)));
  const std::string settings = settingsOf(machine, build);
  // A build without a build ID cannot be told from others, so it has no cache.
  const CompilationCache cache = build.empty() ? CompilationCache("") : CompilationCache::ofUser();
  std::vector<NamedObject> objects(kernels.size());
  std::vector<std::string> errors(kernels.size());
  base::forEach(static_cast<std::int64_t>(kernels.size()), [&](std::int64_t number) {
    const auto i = static_cast<std::size_t>(number);
    objects[i].name = digestOf({settings, kernels[i]});
    auto object = objectOf(kernels[i], objects[i].name, cache);
    if (object)
      objects[i].object = std::move(*object);
    else
      errors[i] = llvm::toString(object.takeError());
  });
  for (const std::string& error : errors)
    if (!error.empty())
      return llvm::createStringError(error);
  return objects;
}

class LinkedCode : public MachineCode {
public:
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::vector<program::KernelFunction> entries;

  std::span<const program::KernelFunction> functions() const override { return entries; }
};

llvm::Expected<std::unique_ptr<MachineCode>> compiled(std::span<const std::string> kernels) {
  auto code = std::make_unique<LinkedCode>();
  if (kernels.empty())
    return std::unique_ptr<MachineCode>(std::move(code));
  auto machine = targetMachine();
  if (!machine)
    return machine.takeError();
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  code->jit = std::move(*jit);
  llvm::orc::SymbolMap symbols;
  for (const program::LibraryFunction& function : program::libraryFunctions())
    symbols[code->jit->mangleAndIntern(function.name)] = {
        llvm::orc::ExecutorAddr::fromPtr(function.address), llvm::JITSymbolFlags::Exported};
  if (llvm::Error error =
          code->jit->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols))))
    return std::move(error);
  auto objects = objectsOf(kernels, **machine);
  if (!objects)
    return objects.takeError();
  llvm::Error failed = llvm::Error::success();
  for (auto& [name, object] : *objects)
    failed = llvm::joinErrors(std::move(failed), code->jit->addObjectFile(std::move(object)));
  if (failed)
    return std::move(failed);
  for (const auto& [name, object] : *objects) {
    auto address = code->jit->lookup(name);
    if (!address)
      return address.takeError();
    code->entries.push_back(address->toPtr<program::KernelFunction>());
  }
  return std::unique_ptr<MachineCode>(std::move(code));
}

llvm::Expected<Listing> listed(const std::string& kernel) {
  auto machine = targetMachine();
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  auto module = optimized(kernel, "kernel", context, **machine);
  if (!module)
    return module.takeError();
  Listing listing;
  llvm::raw_string_ostream out(listing.optimized);
  (*module)->print(out, nullptr);
  llvm::SmallVector<char, 0> assembly;
  if (llvm::Error error = emit(**module, **machine, llvm::CodeGenFileType::AssemblyFile, assembly))
    return std::move(error);
  listing.assembly.assign(assembly.begin(), assembly.end());
  return listing;
}

/// The rest of a shared object: the tables, and a jump for each library function that kernels may
/// call.
std::string tablesText(std::span<const NamedObject> objects, std::uint64_t id,
                       std::vector<std::string>& functions) {
  std::string text, rows;
  llvm::raw_string_ostream out(text), row(rows);
  for (const NamedObject& each : objects) {
    out << "declare hidden void @\"" << each.name << "\"(ptr, i64, i64)\n";
    row << (rows.empty() ? "" : ", ") << "ptr @\"" << each.name << "\"";
  }
  out << "@octavo_kernels = constant [" << objects.size() << " x ptr] [" << rows << "]\n";
  for (const program::LibraryFunction& function : program::libraryFunctions()) {
    if (function.type == nullptr)
      continue;
    std::string parameters;
    for (int i = 0; i < function.arguments; ++i)
      parameters += llvm::formatv("{0}{1} %{2}", i == 0 ? "" : ", ", function.type, i).str();
    out << "define hidden " << function.type << " @" << function.name << "(" << parameters
        << ") {\n  %slot = getelementptr ptr, ptr @octavo_functions, i64 " << functions.size()
        << "\n  %function = load ptr, ptr %slot\n  %result = tail call " << function.type
        << " %function(" << parameters << ")\n  ret " << function.type << " %result\n}\n";
    functions.emplace_back(function.name);
  }
  out << "@octavo_functions = global [" << functions.size() << " x ptr] zeroinitializer\n"
      << "@octavo_facts = constant [3 x i64] [i64 " << objects.size() << ", i64 "
      << functions.size() << ", i64 " << id << "]\n";
  return text;
}

/// Runs the first linker that exists.
llvm::Error runLinker(std::vector<llvm::StringRef> arguments) {
  for (const char* name : {"ld.lld-22", "ld.lld", "ld"}) {
    auto program = llvm::sys::findProgramByName(name);
    if (!program)
      continue;
    arguments.insert(arguments.begin(), name);
    std::string message;
    if (llvm::sys::ExecuteAndWait(*program, arguments, std::nullopt, {}, 0, 0, &message) == 0)
      return llvm::Error::success();
    return llvm::createStringError(*program + " has not linked the kernels" +
                                   (message.empty() ? "" : ": " + message));
  }
  return llvm::createStringError(
      "there is no linker on the PATH (ld.lld-22, ld.lld, ld), which the "
      "kernels of a compiled folder need: install lld or binutils");
}

llvm::Expected<LinkedKernels> linked(std::span<const std::string> kernels, std::uint64_t id,
                                     const std::string& folder) {
  auto machine = targetMachine();
  if (!machine)
    return machine.takeError();
  auto objects = objectsOf(kernels, **machine);
  if (!objects)
    return objects.takeError();
  LinkedKernels made;
  llvm::SmallVector<llvm::StringRef> features;
  const std::string all = (*machine)->getTargetFeatureString().str();
  llvm::StringRef(all).split(features, ',', -1, false);
  for (const llvm::StringRef feature : features)
    if (feature.starts_with("+"))
      made.features.push_back(feature.drop_front().str());
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto tables =
      llvm::parseAssemblyString(tablesText(*objects, id, made.functions), diagnostic, context);
  if (!tables)
    return llvm::createStringError("the tables of the kernels are no LLVM IR: " +
                                   diagnostic.getMessage());
  tables->setDataLayout((*machine)->createDataLayout());
  tables->setTargetTriple((*machine)->getTargetTriple());
  llvm::SmallVector<char, 0> bytes;
  if (llvm::Error error = emit(*tables, **machine, llvm::CodeGenFileType::ObjectFile, bytes))
    return std::move(error);
  objects->push_back({"octavo_tables", std::make_unique<llvm::SmallVectorMemoryBuffer>(
                                           std::move(bytes), "octavo_tables", false)});
  const std::string path = folder + "/" + kLinkedFile;
  std::vector<std::string> files;
  for (const NamedObject& each : *objects) {
    files.push_back(folder + "/" + each.name + ".o");
    std::error_code failed;
    llvm::raw_fd_ostream out(files.back(), failed);
    if (!failed) {
      out << each.object->getBuffer();
      out.close();
      failed = out.error();
      out.clear_error();
    }
    if (failed)
      return llvm::createStringError(files.back() + ": " + failed.message());
  }
  std::vector<llvm::StringRef> arguments = {
      "-shared", "-o", path, "-z", "now", "-z", "relro", "-z", "noexecstack", "--build-id=none"};
  arguments.insert(arguments.end(), files.begin(), files.end());
  if (llvm::Error error = runLinker(std::move(arguments)))
    return std::move(error);
  return made;
}

template <typename T> tl::expected<T, std::string> withText(llvm::Expected<T> result) {
  if (!result)
    return tl::make_unexpected(llvm::toString(result.takeError()));
  return std::move(*result);
}

class LlvmCodeGenerator : public CodeGenerator {
public:
  tl::expected<std::unique_ptr<MachineCode>, std::string>
  compile(std::span<const std::string> kernels) const override {
    return withText(compiled(kernels));
  }
  tl::expected<LinkedKernels, std::string> link(std::span<const std::string> kernels,
                                                std::uint64_t id,
                                                const std::string& folder) const override {
    return withText(linked(kernels, id, folder));
  }
  tl::expected<Listing, std::string> list(const std::string& kernel) const override {
    return withText(listed(kernel));
  }
};

} // namespace

extern "C" __attribute__((visibility("default"))) const CodeGenerator* octavoCodeGenerator() {
  static const LlvmCodeGenerator generator;
  return &generator;
}

} // namespace octavo::compiler
