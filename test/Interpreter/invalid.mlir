// RUN: octavo-opt %s -split-input-file -verify-diagnostics

func.func @no_program() {
  // expected-error @+1 {{needs at least one program}}
  "interpreter.run_parallel"() {programs = []} : () -> ()
  return
}

// -----

func.func @empty_row() {
  // expected-error @+1 {{needs at least one program}}
  "interpreter.run_parallel"() {programs = [[]]} : () -> ()
  return
}

// -----

func.func @f() { return }
func.func @rows_of_several_lengths() {
  // expected-error @+1 {{needs rows of programs that are equally long, found 2 and 1}}
  "interpreter.run_parallel"() {programs = [[@f, @f], [@f]]} : () -> ()
  return
}

// -----

func.func @no_function() {
  // expected-error @+1 {{has a program @f, which is no function}}
  "interpreter.run_parallel"() {programs = [[@f]]} : () -> ()
  return
}

// -----

func.func @f(%x: tensor<i32>) { return }
func.func @operands() {
  // expected-error @+1 {{needs an operand for each of the 2 arguments of its programs, found 0}}
  "interpreter.run_parallel"() {programs = [[@f, @f]]} : () -> ()
  return
}

// -----

func.func @f() { return }
func.func @results() {
  // expected-error @+1 {{needs a result for each of the 0 results of its programs, found 1}}
  %r = "interpreter.run_parallel"() {programs = [[@f]]} : () -> tensor<i32>
  return
}

// -----

func.func @f() { return }
func.func @empty_infeed() {
  // expected-error @+1 {{needs at least one function in infeed where it has one}}
  "interpreter.run_parallel"() {programs = [[@f]], infeed = []} : () -> ()
  return
}

// -----

func.func @f() { return }
func.func @infeed_without_function() {
  // expected-error @+1 {{has an infeed @g, which is no function}}
  "interpreter.run_parallel"() {programs = [[@f]], infeed = [@g]} : () -> ()
  return
}

// -----

func.func @f() { return }
func.func @infeed_of_nothing() {
  // expected-error @+1 {{needs functions in infeed that take nothing and give one tensor, found @f of type '() -> ()'}}
  "interpreter.run_parallel"() {programs = [[@f]], infeed = [@f]} : () -> ()
  return
}

// -----

func.func @probe_of_another_type(%x: tensor<2xf32>) {
  // expected-error @+1 {{failed to verify that all of {operand, result} have same type}}
  %y = "interpreter.probe"(%x) {probe_id = "p"} : (tensor<2xf32>) -> tensor<3xf32>
  return
}
